package traffic

import (
	"fmt"
	"slices"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/front/reach"
)

// URL is the URL of the load: the argument or, of a command of curl, the host of the command.
func (o *Options) URL(args []string) string {
	if len(args) > 0 {
		return args[0]
	}
	return o.Input.URL()
}

// GivenHeaders are the headers that flags set, as in "Accept: text/html".
func (o *Options) GivenHeaders() []string {
	given := slices.Clone(o.Headers)
	if o.Auth != (experiment.Auth{}) {
		given = append(given, "Authorization:")
	}
	return given
}

// mix sets the requests of the input, with the headers, the credentials and the check of the
// flags.
func (o *Options) mix(s *file.Settings, t reach.Target, headers map[string]string) error {
	if t.Path != "/" {
		return fmt.Errorf("%s has a path, and so have the requests of %s: leave out the path", t.URL, o.Input.Flag)
	}
	o.Input.Set(s, t.Host, headers, o.eachOfMix())
	return nil
}

// eachOfMix are the credentials and the check of each request of a mix.
func (o *Options) eachOfMix() map[string]any {
	more := map[string]any{}
	auth, check := map[string]any{}, map[string]any{}
	if o.Auth.Basic != "" {
		auth["basic_env"] = o.Auth.Basic
	}
	if o.Auth.Bearer != "" {
		auth["bearer_env"] = o.Auth.Bearer
	}
	if len(o.Status) > 0 {
		check["status"] = o.Status
	}
	if o.Contains != "" {
		check["contains"] = o.Contains
	}
	if len(auth) > 0 {
		more["auth"] = auth
	}
	if len(check) > 0 {
		more["check"] = check
	}
	return more
}
