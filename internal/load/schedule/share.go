package schedule

// Share returns the offset and the size of a share of a total, such as connections,
// users or requests. The sizes of shares differ by at most one, and earlier shares are
// not smaller.
func Share(total, share, shares int) (from, size int) {
	base, rest := total/shares, total%shares
	return share*base + min(share, rest), sharePart(total, share, shares)
}

// sharePart counts the k in 0..total-1 with k mod shares == share.
func sharePart(total, share, shares int) int {
	if total <= share {
		return 0
	}
	return (total-share-1)/shares + 1
}
