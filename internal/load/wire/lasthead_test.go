package wire

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// readRemembering reads all of a text with a reader that remembers heads.
func readRemembering(h *LastHead, a *Answer, text string, head bool, size int) outcome {
	return readPieces(a, text, head, size, func(p []byte) (int, bool, error) { return h.Read(a, p) })
}

// A remembered head is read like one that is not remembered.
func TestAHeadThatIsRemembered(t *testing.T) {
	var h LastHead
	var a Answer
	for first, before := range answers {
		for name, c := range map[string]struct {
			text string
			head bool
			want outcome
		}{first: before, "with a length": answers["with a length"], "to HEAD": answers["to HEAD"], "chunked, with trailers": answers["chunked, with trailers"]} {
			for _, size := range []int{1 << 20, 1 << 20, 50, 7} {
				if got := readRemembering(&h, &a, c.text, c.head, size); got != c.want {
					t.Fatalf("%q after %q, in pieces of %d: %+v; want %+v", name, first, size, got, c.want)
				}
			}
		}
	}
}

// Of a head that says the length of the body it is not remembered how much of one
// body has come, nor what was found in it.
func TestABodyIsNotRemembered(t *testing.T) {
	var h LastHead
	var a Answer
	needle := NewNeedle("llo")
	for _, c := range []struct {
		body  string
		found bool
	}{{"hello", true}, {"abcde", false}, {"xello", true}, {"heloo", false}} {
		a.Begin(false, needle)
		text := "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n" + c.body
		if n, done, err := h.Read(&a, []byte(text)); n != len(text) || !done || err != nil {
			t.Fatalf("%q: %d bytes, whole %v, %v", c.body, n, done, err)
		}
		if a.Found() != c.found {
			t.Errorf("%q: found %v; want %v", c.body, a.Found(), c.found)
		}
	}
}

// A head that answers GET is not valid for HEAD.
func TestAHeadOfAnotherMethod(t *testing.T) {
	var h LastHead
	var a Answer
	const text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
	for _, head := range []bool{false, true, true, false, false} {
		a.Begin(head, nil)
		if _, done, err := h.Read(&a, []byte(text)); done != head || err != nil {
			t.Fatalf("to HEAD %v: whole %v, %v", head, done, err)
		}
	}
}

// What is remembered is the head that came last, and none that is long.
func TestWhatIsRemembered(t *testing.T) {
	var h LastHead
	var a Answer
	long := "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: " + strings.Repeat("y", longestHead) + "\r\n\r\nhello"
	for _, text := range []string{hello, long, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", long} {
		readRemembering(&h, &a, text, false, len(text))
	}
	if got, want := string(h.text), "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"; got != want {
		t.Errorf("%q is remembered; want %q", got, want)
	}
}

// For a sequence of random answers, some of them repeated, the result with the cache is
// the same as without.
func TestRememberingChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h LastHead
		var with, without Answer
		var before []string
		for range rapid.IntRange(1, 8).Draw(t, "answers") {
			text := string(anAnswer(t))
			if len(before) > 0 && rapid.Bool().Draw(t, "again") {
				text = rapid.SampledFrom(before).Draw(t, "which")
			}
			before = append(before, text)
			head, size := rapid.Bool().Draw(t, "head"), rapid.SampledFrom([]int{3, 40, 1000}).Draw(t, "pieces")
			got, want := readRemembering(&h, &with, text, head, size), readAll(&without, text, head, size)
			if got != want {
				t.Fatalf("%q in pieces of %d: %+v; want %+v", text, size, got, want)
			}
		}
	})
}

func TestRememberingDoesNotAllocate(t *testing.T) {
	var h LastHead
	var a Answer
	texts := [][]byte{[]byte(hello), []byte(answers["chunked, with trailers"].text)}
	if n := testing.AllocsPerRun(1000, func() {
		for _, text := range texts {
			for range 2 {
				a.Begin(false, nil)
				if _, whole, err := h.Read(&a, text); !whole || err != nil {
					t.Fatal(whole, err)
				}
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkLastHead(b *testing.B) {
	var h LastHead
	var a Answer
	b.SetBytes(int64(len(usual)))
	for b.Loop() {
		a.Begin(false, nil)
		if _, whole, err := h.Read(&a, usual); !whole || err != nil {
			b.Fatal(whole, err)
		}
	}
}
