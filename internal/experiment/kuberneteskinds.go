package experiment

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
	"k8s.io/apimachinery/pkg/api/validate/content"
)

// The kinds of Kubernetes' own names and words. What is valid is told by
// Kubernetes' own code; the patterns are what an editor can check of it.

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

const objectNamePattern = `^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`

func (objectName) read(s string) (string, error) {
	if said := content.IsDNS1123Subdomain(s); len(said) > 0 {
		return "", fmt.Errorf("%q is no name of an object: use lower-case letters, digits, and inner hyphens and dots", s)
	}
	return s, nil
}
func (objectName) schema() *jsonschema.Schema {
	s := typed("string", "number", "boolean") // plain YAML reads 1.5 as a number
	s.Pattern = objectNamePattern
	return s
}

// labelKey is the key of a label, an annotation or a taint: a name, perhaps
// after a domain and a slash.
type labelKey struct{}

const labelKeyPattern = `^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$`

func (labelKey) read(s string) (string, error) {
	if said := content.IsLabelKey(s); len(said) > 0 {
		return "", fmt.Errorf("%q is no key: use up to 63 letters, digits and inner -, _ and dots, after a domain and a slash where it has one, as in example.com/team", s)
	}
	return s, nil
}
func (labelKey) schema() *jsonschema.Schema {
	s := typed("string", "number", "boolean")
	s.Pattern = labelKeyPattern
	return s
}

// ownLabelKey is a key that is not one of those that Millicore finds its objects
// by (internal/kube).
type ownLabelKey struct{ labelKey }

func (k ownLabelKey) read(s string) (string, error) {
	if strings.HasPrefix(s, "millicore/") || s == "app.kubernetes.io/managed-by" {
		return "", fmt.Errorf("the label %q is Millicore's own, which finds its objects by it", s)
	}
	return k.labelKey.read(s)
}

// labelValue is the value of a label or a taint; it may be empty.
type labelValue struct{}

const labelValuePattern = `^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$`

func (labelValue) read(s string) (string, error) {
	if said := content.IsLabelValue(s); len(said) > 0 {
		return "", fmt.Errorf("%q is no value of a label: use up to 63 letters, digits and inner -, _ and dots", s)
	}
	return s, nil
}
func (labelValue) schema() *jsonschema.Schema {
	s := typed("string", "number", "boolean")
	s.Pattern = labelValuePattern
	return s
}

// imageName is an image's name, whose syntax is for those who pull it.
type imageName struct{}

const imageNamePattern = `^[!-~]+$`

var imageNameSyntax = regexp.MustCompile(imageNamePattern)

func (imageName) read(s string) (string, error) {
	if !imageNameSyntax.MatchString(s) {
		return "", fmt.Errorf("%q is no name of an image", s)
	}
	return s, nil
}
func (imageName) schema() *jsonschema.Schema { return pattern(imageNamePattern) }

// word reads one of several words.
func word(s string, valid []string) (string, error) {
	if !slices.Contains(valid, s) {
		return "", fmt.Errorf("unknown word %q; %s", s, hint(s, "valid words", valid))
	}
	return s, nil
}

func oneOf(valid []string) *jsonschema.Schema {
	return pattern("^(" + strings.Join(valid, "|") + ")$")
}

// effect is what a taint does.
type effect struct{}

var effects = []string{"NoSchedule", "PreferNoSchedule", "NoExecute"}

func (effect) read(s string) (string, error) { return word(s, effects) }
func (effect) schema() *jsonschema.Schema    { return oneOf(effects) }

// operator is how a toleration is compared with a taint.
type operator struct{}

var operators = []string{"Equal", "Exists"}

func (operator) read(s string) (string, error) { return word(s, operators) }
func (operator) schema() *jsonschema.Schema    { return oneOf(operators) }

// security is a level of the Pod Security Standards.
type security struct{}

var securities = []string{SecurityRestricted, SecurityBaseline}

func (security) read(s string) (string, error) { return word(s, securities) }
func (security) schema() *jsonschema.Schema    { return oneOf(securities) }

// certificate is which certificates of kubelets will do.
type certificate struct{}

var certificates = []string{CertificateAny, CertificateVerify}

func (certificate) read(s string) (string, error) { return word(s, certificates) }
func (certificate) schema() *jsonschema.Schema    { return oneOf(certificates) }

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
