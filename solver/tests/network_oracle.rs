use good_lp as _;
use proptest as _;
