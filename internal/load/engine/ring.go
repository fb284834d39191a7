package engine

// ring is a first-in, first-out queue that grows by doubling and keeps its
// memory.
type ring[T any] struct {
	items   []T // its length is a power of two
	head, n int
}

func (r *ring[T]) len() int { return r.n }

func (r *ring[T]) push(v T) {
	if r.n == len(r.items) {
		r.grow()
	}
	r.items[(r.head+r.n)&(len(r.items)-1)] = v
	r.n++
}

func (r *ring[T]) pop() T {
	v := r.items[r.head]
	r.head = (r.head + 1) & (len(r.items) - 1)
	r.n--
	return v
}

// unshift puts an item before all others.
func (r *ring[T]) unshift(v T) {
	if r.n == len(r.items) {
		r.grow()
	}
	r.head = (r.head - 1) & (len(r.items) - 1)
	r.items[r.head] = v
	r.n++
}

func (r *ring[T]) grow() {
	items := make([]T, max(64, 2*len(r.items)))
	for i := range r.n {
		items[i] = r.items[(r.head+i)&(len(r.items)-1)]
	}
	r.items, r.head = items, 0
}
