package experiment

import (
	"maps"
	"slices"

	"github.com/millicore/millicore/internal/secret"
)

// Shown is the experiment as it may be shown and stored: the values of variables and
// headers that are secrets, and the passwords of URLs, are replaced by secret.Mask. e
// itself stays as it is, to be run.
func (e *Experiment) Shown() *Experiment {
	shown := *e
	shown.Given = nil
	shown.Cells = slices.Clone(e.Cells)
	for i := range shown.Cells {
		c := &shown.Cells[i]
		c.Service.hide()
		c.Load.Request.hide()
		c.Load.Mix = slices.Clone(c.Load.Mix)
		for j := range c.Load.Mix {
			c.Load.Mix[j].hide()
		}
	}
	return &shown
}

// hide hides the secrets of a service. It changes nothing that another copy refers to.
func (s *Service) hide() {
	s.Command, s.Env, s.EnvFrom = secret.Words(s.Command), hidden(s.Env, secretBut(s.Public)), withoutValues(s.EnvFrom)
	s.Dependencies = slices.Clone(s.Dependencies)
	for i := range s.Dependencies {
		d := &s.Dependencies[i]
		d.Command, d.Env, d.URL = secret.Words(d.Command), hidden(d.Env, secretBut(d.Public)), secret.Text(d.URL)
		d.EnvFrom = withoutValues(d.EnvFrom)
	}
	s.Actions = slices.Clone(s.Actions)
	for i := range s.Actions {
		s.Actions[i].Request.hide()
	}
}

// hide hides the secrets of a request, and leaves out its inputs.
func (r *Request) hide() {
	r.Headers, r.Path, r.Body = hidden(r.Headers, secret.Header), secret.Text(r.Path), secret.Text(r.Body)
	r.Inputs = Inputs{}
}

// hidden is a copy of a map without the values whose names are secrets, and without
// those within the other values.
func hidden(all map[string]string, isSecret func(name string) bool) map[string]string {
	all = maps.Clone(all)
	for name, value := range all {
		if all[name] = secret.Text(value); secret.Hides(value) && isSecret(name) {
			all[name] = secret.Mask
		}
	}
	return all
}

// secretBut is secret.Variable, but for the names that the experiment states to be public.
func secretBut(public []string) func(name string) bool {
	return func(name string) bool { return secret.Variable(name) && !slices.Contains(public, name) }
}

func withoutValues(all map[string]Reference) map[string]Reference {
	all = maps.Clone(all)
	for name, r := range all {
		r.Value = ""
		all[name] = r
	}
	return all
}

// Secrets are the values that Shown hides, and the inputs of requests, for secret.Scrub.
func (e *Experiment) Secrets() []string {
	found := map[string]bool{}
	add := func(values ...string) {
		for _, v := range values {
			found[v] = true
		}
	}
	env := func(all map[string]string, isSecret func(string) bool) {
		for name, value := range all {
			if isSecret(name) {
				add(value)
			}
			add(secret.Values(value)...)
		}
	}
	request := func(r *Request) {
		env(r.Headers, secret.Header)
		add(r.Inputs.Authorization)
		add(secret.Values(r.Path)...)
		add(secret.Values(r.Body)...)
	}
	for _, v := range e.variables() {
		for _, r := range v.from {
			add(r.Value)
		}
	}
	for i := range e.Cells {
		s := &e.Cells[i].Service
		env(s.Env, secretBut(s.Public))
		add(secret.ValuesOf(s.Command)...)
		for _, d := range s.Dependencies {
			env(d.Env, secretBut(d.Public))
			add(secret.ValuesOf(d.Command)...)
			add(secret.Values(d.URL)...)
		}
		for j := range s.Actions {
			request(&s.Actions[j].Request)
		}
	}
	for _, r := range e.requests() {
		request(r)
	}
	delete(found, "")
	return slices.Sorted(maps.Keys(found))
}
