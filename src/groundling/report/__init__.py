"""What people look at: tables, charts, sheets of pictures, and pages of them. It draws what `evaluation` has found."""
