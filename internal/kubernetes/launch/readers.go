package launch

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/millicore/millicore/internal/kubernetes/conductor"
	"github.com/millicore/millicore/internal/kubernetes/kube"
)

// A reader of a run's state and record needs no Secret of the namespace. It makes a token,
// and leaves the token's hash in an annotation of the run's ConfigMap, where the conductor
// looks it up. So whoever may change the run, and so may stop it, may read its record;
// agents have no account at the API server. Whoever reads the ConfigMap sees hashes.

// readerAnnotation begins the names of annotations with readers' hashes. The rest is a
// part of the hash, so that readers do not replace one another.
const readerAnnotation = "millicore/reader-"

// newToken makes a token that cannot be guessed.
func newToken() string {
	var token [32]byte
	rand.Read(token[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(token[:])
}

// register makes the owner of a token a reader of the run. It may be called again.
func register(ctx context.Context, c *kube.Client, run, token string) error {
	hash := conductor.HashToken(token)
	_, err := kube.ConfigMaps.Patch(ctx, c, Name(run), "", patch("annotations", map[string]string{readerAnnotation + hash[:16]: hash}))
	return err
}

// Readers returns the hashes of the tokens of a run's readers.
func Readers(ctx context.Context, c *kube.Client, run string) ([]string, error) {
	owner, err := kube.ConfigMaps.Get(ctx, c, Name(run))
	if err != nil {
		return nil, fmt.Errorf("look for readers of run %s: %w", run, err)
	}
	var all []string
	for name, hash := range owner.Annotations {
		if strings.HasPrefix(name, readerAnnotation) {
			all = append(all, hash)
		}
	}
	return all, nil
}
