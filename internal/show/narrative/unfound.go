package narrative

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/base/phrase"
)

// unfound are variants that were searched and have no breaking point, for one reason.
type unfound struct {
	why      string
	variants []Variant
}

// names are the variants for a sentence: "with GOMAXPROCS=1", "without the CPU limit".
func (u *unfound) names() string {
	var all []string
	for _, v := range u.variants {
		name := "with " + v.Label
		if v.Unlimited {
			name = v.Label
		}
		all = append(all, name)
	}
	return phrase.List(all)
}

// has reports whether a variant is one of them.
func (u *unfound) has(v Variant) bool {
	return slices.ContainsFunc(u.variants, func(one Variant) bool { return one.Service == v.Service })
}

// unfound are the variants without a breaking point, those with one reason together.
func (t *tried) unfound() (all []unfound) {
	for _, v := range t.variants {
		if v.NoEffect != "" || t.holds(v) {
			continue
		}
		why := t.because(v)
		i := slices.IndexFunc(all, func(u unfound) bool { return u.why == why })
		if i < 0 {
			i = len(all)
			all = append(all, unfound{why: why})
		}
		all[i].variants = append(all[i].variants, v)
	}
	return all
}

// nowhere states that the server as it is has no breaking point under its limits, and the
// variants that have none for the same reason.
func (t *tried) nowhere(limits string) string {
	asIs := t.variants[0]
	text := fmt.Sprintf("No breaking point of %s was found under %s", t.name, limits)
	for _, u := range t.unfound() {
		if u.has(asIs) && len(u.variants) > 1 {
			others := unfound{variants: u.variants[1:]}
			text += ", nor " + others.names()
		}
	}
	return fmt.Sprintf("%s: %s.", text, t.because(asIs))
}

// undetermined names the variants that were searched and have no breaking point, beside
// the server as it is and the replicas, which have sentences of their own.
func (t *tried) undetermined() string {
	var parts []string
	for _, u := range t.unfound() {
		if u.has(t.variants[0]) || len(u.variants) == 1 && u.variants[0].Replicas > 1 {
			continue
		}
		parts = append(parts, fmt.Sprintf("No breaking point was found %s: %s.", u.names(), u.why))
	}
	return strings.Join(parts, " ")
}

// undeterminedByLimit names what has no breaking point under each of several limits and
// without one. who is "" or " of" the server, if nothing else names it.
func (t *tried) undeterminedByLimit(groups []tried, who string) string {
	under := func(v Variant) string { // the limit of a variant
		for i := range groups {
			if slices.ContainsFunc(groups[i].variants, func(one Variant) bool { return one.Service == v.Service }) {
				return groups[i].under
			}
		}
		return ""
	}
	var parts []string
	for _, u := range t.unfound() {
		var names []string
		limits := map[string][]string{}
		for _, v := range u.variants {
			name := "with " + v.Label + " under"
			switch limit := under(v); {
			case limit == "":
				name = v.Label
			case v.Label == t.variants[0].Label:
				name = "under"
				fallthrough
			default:
				limits[name] = append(limits[name], limit)
			}
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		for i, name := range names {
			if all := limits[name]; len(all) > 0 {
				names[i] = name + " " + phrase.List(all)
			}
		}
		parts = append(parts, fmt.Sprintf("No breaking point%s was found %s: %s.", who, phrase.List(names), u.why))
	}
	return strings.Join(parts, " ")
}
