package schedule

// Share returns the place and the size of share i of n of a whole number of
// things: connections, users, requests. Shares differ by at most one, and the
// earlier ones are the larger ones.
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
