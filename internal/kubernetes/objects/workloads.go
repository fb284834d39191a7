package objects

import (
	"cmp"
	"fmt"
)

// built are the images of sample services that hold a runtime which is not
// Millicore's; the experiment may name others.
var built = map[string]string{"node": "millicore-node", "bun": "millicore-bun"}

// Workload is the image of a sample service; "" where it has none.
func (m *Maker) Workload(name string) string {
	if name == "go" {
		return m.image
	}
	return cmp.Or(m.settings.Images[name], built[name])
}

// ErrNoImage is the error for a sample service that is no image.
func ErrNoImage(workload string) error {
	return fmt.Errorf("the sample service %q has no image; use --on local", workload)
}

// isOwn reports whether an image is one of Millicore's. Those run as any user.
func (m *Maker) isOwn(image string) bool {
	if image == m.image {
		return true
	}
	for name := range built {
		if image == m.Workload(name) {
			return true
		}
	}
	return false
}
