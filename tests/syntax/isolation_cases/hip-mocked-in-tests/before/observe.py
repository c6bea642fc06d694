import check_ops
