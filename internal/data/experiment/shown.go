package experiment

import (
	"maps"
	"slices"

	"github.com/millicore/millicore/internal/base/secret"
)

// Shown is the experiment as it may be shown and stored: the values of variables and
// headers that are secrets, and the passwords of URLs, are replaced by secret.Mask. e
// itself stays as it is, to be run.
func (e *Experiment) Shown() *Experiment { return e.replaceSecrets(secret.Masked) }

// Secrets are the values that Shown hides, and the inputs of requests, for secret.Scrub.
func (e *Experiment) Secrets() []string {
	found := map[string]bool{}
	e.replaceSecrets(func(value string) string {
		found[value] = true
		return value
	})
	delete(found, "")
	return slices.Sorted(maps.Keys(found))
}

// replacer replaces a secret.
type replacer func(value string) string

// replaceSecrets is a copy of the experiment with each secret replaced, and without the
// values of references and the inputs of requests.
func (e *Experiment) replaceSecrets(by replacer) *Experiment {
	shown := *e
	shown.Given = nil
	shown.Cells = slices.Clone(e.Cells)
	for i := range shown.Cells {
		c := &shown.Cells[i]
		by.service(&c.Service)
		by.request(&c.Load.Request)
		c.Load.Mix = slices.Clone(c.Load.Mix)
		for j := range c.Load.Mix {
			by.request(&c.Load.Mix[j])
		}
	}
	return &shown
}

// service replaces the secrets of a service. It changes nothing that another copy refers to.
func (by replacer) service(s *Service) {
	s.Command, s.Args = secret.ReplaceWords(s.Command, by), secret.ReplaceWords(s.Args, by)
	s.Env, s.EnvFrom = by.env(s.Env, s.Public), by.references(s.EnvFrom)
	s.Dependencies = slices.Clone(s.Dependencies)
	for i := range s.Dependencies {
		d := &s.Dependencies[i]
		d.Command, d.Env, d.URL = secret.ReplaceWords(d.Command, by), by.env(d.Env, d.Public), secret.Replace(d.URL, by)
		d.EnvFrom = by.references(d.EnvFrom)
	}
	s.Actions = slices.Clone(s.Actions)
	for i := range s.Actions {
		by.request(&s.Actions[i].Request)
	}
}

// request replaces the secrets of a request, and leaves out its inputs.
func (by replacer) request(r *Request) {
	r.Headers, r.Path, r.Body = by.named(r.Headers, secret.Header), secret.Replace(r.Path, by), secret.Replace(r.Body, by)
	by(r.Inputs.Authorization)
	r.Inputs = Inputs{}
}

// env replaces the secrets of variables, but of those that the experiment states to be
// public.
func (by replacer) env(all map[string]string, public []string) map[string]string {
	return by.named(all, secretBut(public))
}

// named replaces the values whose names are those of secrets, and the secrets within the
// other values.
func (by replacer) named(all map[string]string, isSecret func(name string) bool) map[string]string {
	all = maps.Clone(all)
	for name, value := range all {
		if isSecret(name) {
			all[name] = by(value)
		} else {
			all[name] = secret.Replace(value, by)
		}
	}
	return all
}

// secretBut is secret.Variable, but for the names that the experiment states to be public.
func secretBut(public []string) func(name string) bool {
	return func(name string) bool { return secret.Variable(name) && !slices.Contains(public, name) }
}

// references leaves out the values of references, which are secrets.
func (by replacer) references(all map[string]Reference) map[string]Reference {
	all = maps.Clone(all)
	for name, r := range all {
		by(r.Value)
		r.Value = ""
		all[name] = r
	}
	return all
}
