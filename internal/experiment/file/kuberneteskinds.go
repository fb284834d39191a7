package file

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
	"k8s.io/apimachinery/pkg/api/validate/content"
)

// The kinds of Kubernetes' own names and words. Kubernetes' own code decides what
// is valid; the patterns are what an editor can check.

// namespace is a DNS label (RFC 1123).
type namespace struct{}

func (namespace) read(s string) (string, error) {
	if said := content.IsDNS1123Label(s); len(said) > 0 {
		return "", fmt.Errorf("%q is no namespace: use up to 63 lower-case letters, digits and inner hyphens", s)
	}
	return s, nil
}
func (namespace) schema() *jsonschema.Schema { return unitName{}.schema() }

// objectName is the name of an object: a DNS subdomain.
type objectName struct{}

var objectNameSyntax = syntaxOf(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)

func (objectName) read(s string) (string, error) {
	if said := content.IsDNS1123Subdomain(s); len(said) > 0 {
		return "", fmt.Errorf("%q is no name of an object: use lower-case letters, digits, and inner hyphens and dots", s)
	}
	return s, nil
}
func (objectName) schema() *jsonschema.Schema {
	return objectNameSyntax.schema("string", "number", "boolean") // plain YAML reads 1.5 as a number
}

// labelKey is the key of a label, an annotation or a taint: a name, perhaps
// after a domain and a slash.
type labelKey struct{}

var labelKeySyntax = syntaxOf(`^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$`)

func (labelKey) read(s string) (string, error) {
	if said := content.IsLabelKey(s); len(said) > 0 {
		return "", fmt.Errorf("%q is no key: use up to 63 letters, digits and inner -, _ and dots, after a domain and a slash where it has one, as in example.com/team", s)
	}
	return s, nil
}
func (labelKey) schema() *jsonschema.Schema {
	return labelKeySyntax.schema("string", "number", "boolean")
}

// ownLabelKey is a key that is not one of those that Millicore finds its objects
// by (internal/kubernetes/kube).
type ownLabelKey struct{ labelKey }

func (k ownLabelKey) read(s string) (string, error) {
	if strings.HasPrefix(s, "millicore/") || s == "app.kubernetes.io/managed-by" {
		return "", fmt.Errorf("the label %q is Millicore's own, which finds its objects by it", s)
	}
	return k.labelKey.read(s)
}

// labelValue is the value of a label or a taint; it may be empty.
type labelValue struct{}

var labelValueSyntax = syntaxOf(`^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$`)

func (labelValue) read(s string) (string, error) {
	if said := content.IsLabelValue(s); len(said) > 0 {
		return "", fmt.Errorf("%q is no value of a label: use up to 63 letters, digits and inner -, _ and dots", s)
	}
	return s, nil
}
func (labelValue) schema() *jsonschema.Schema {
	return labelValueSyntax.schema("string", "number", "boolean")
}

// imageName is an image's name, whose syntax is for those who pull it.
type imageName struct{}

var imageNameSyntax = syntaxOf(`^[!-~]+$`)

func (imageName) read(s string) (string, error) {
	if !imageNameSyntax.MatchString(s) {
		return "", fmt.Errorf("%q is no name of an image", s)
	}
	return s, nil
}
func (imageName) schema() *jsonschema.Schema { return imageNameSyntax.schema("string") }

// seconds is a whole number of them, from 0.
type seconds struct{}

func (seconds) read(s string) (int64, error) {
	if s == "0" {
		return 0, nil
	}
	if !countSyntax.MatchString(s) {
		return 0, fmt.Errorf("%q is no whole number of seconds, as in 60", s)
	}
	return strconv.ParseInt(s, 10, 64)
}
func (seconds) schema() *jsonschema.Schema { return backlog{}.schema() }
