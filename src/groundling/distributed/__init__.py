"""Pictures encoded by many machines, with Ray: where pictures come from, the workers, and the cluster that has them.

Plain Ray actors rather than Ray Data. Pictures of strangers are decoded in limited processes (`decoding.workers`), so
that a worker of Ray only feeds those; lost workers must repeat the pictures in hand and no others, where Ray Data
computes lost blocks anew from their beginning; and the vectors go to one writer, which keeps the shards and journals
that a run on one machine keeps, so that either can go on with what the other has begun.
"""
