package conductor

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/kubernetes/tunnel"
)

// Clients of the conductor's port have different tokens, so that one of them cannot
// act as another:
//
//   - An agent or a node agent has the token of its own path. The conductor computes it
//     from the run's key, and keeps no list.
//   - A reader of the state and the record makes a token of its own, and leaves its
//     hash at the run, where only those who may change the run can write
//     (Options.Readers). A hash does not open anything.

// leastKey is the length of 128 bits in base64.
const leastKey = 22

// readKey reads the key of the run's tokens.
func readKey(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the key of the run's tokens: %w", err)
	}
	key := strings.TrimSpace(string(text))
	if len(key) < leastKey {
		return nil, fmt.Errorf("read the key of the run's tokens: %s has only %d characters and can be guessed: want at least %d", filepath.Base(path), len(key), leastKey)
	}
	return []byte(key), nil
}

// Certificate is the conductor's certificate, PEM, which its clients pin.
func (h *Hub) Certificate() []byte { return h.certificate }

// AgentToken is the token of an agent.
func (h *Hub) AgentToken(index int) string { return h.token(agentPath(index)) }

// NodeToken is the token of the node agent of a node.
func (h *Hub) NodeToken(name string) string { return h.token(nodePath(name)) }

func agentPath(index int) string  { return fmt.Sprintf("/agent/%d", index) }
func nodePath(name string) string { return "/node/" + name }

// token computes the token of a stream: a message authentication code of its path (HMAC, RFC
// 2104). Without the key it can neither be computed nor changed to that of another path.
func (h *Hub) token(path string) string {
	mac := hmac.New(sha256.New, h.key)
	mac.Write([]byte(path))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// ofStream lets a request through that has the token of its own path.
func (h *Hub) ofStream(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		token := r.Header.Get(tunnel.TokenHeader)
		if subtle.ConstantTimeCompare([]byte(token), []byte(h.token(r.URL.Path))) != 1 {
			unauthorized(w, "the token of "+r.URL.Path)
			return
		}
		next(w, r)
	}
}

// ofReader lets a request through that has a reader's token.
func (h *Hub) ofReader(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		known, err := h.readers.know(r.Context(), r.Header.Get(tunnel.TokenHeader))
		switch {
		case err != nil:
			http.Error(w, "the run's readers are not known: "+err.Error(), http.StatusServiceUnavailable)
		case !known:
			unauthorized(w, "a reader's token of this run")
		default:
			next(w, r)
		}
	}
}

func unauthorized(w http.ResponseWriter, want string) {
	http.Error(w, "the header "+tunnel.TokenHeader+" does not have "+want, http.StatusUnauthorized)
}

// Bounds of looks for new readers: requests with wrong tokens must not become requests
// to the API server.
const (
	lookAgain  = time.Second // the shortest time between two looks
	lookWithin = 10 * time.Second
)

// readers knows the readers of a run.
type readers struct {
	look func(context.Context) ([]string, error) // nil: nobody reads

	mu     sync.Mutex
	hashes map[string]bool
	looked time.Time
}

// know reports whether a token is that of a reader. It looks for new readers if it is
// not; the error is that of the look.
func (r *readers) know(ctx context.Context, token string) (bool, error) {
	if len(token) < leastKey || r.look == nil {
		return false, nil
	}
	hash := HashToken(token)
	if known, again := r.has(hash); known || !again {
		return known, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	all, err := r.look(ctx)
	if err != nil {
		return false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hashes = map[string]bool{}
	for _, one := range all {
		r.hashes[one] = true
	}
	return r.hashes[hash], nil
}

// has reports whether a hash is known, or otherwise whether it is time to look again.
func (r *readers) has(hash string) (known, again bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hashes[hash] {
		return true, false
	}
	if again = time.Since(r.looked) >= lookAgain; again {
		r.looked = time.Now()
	}
	return false, again
}

// HashToken is the hash of a reader's token: SHA-256, in hexadecimal. A token is as long
// as the hash and random, so that it needs no salt.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
