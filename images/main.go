// Command images packs folders into one container image, without a daemon and
// without root: an OCI archive with an index of the platforms that were given,
// for `ctr images import` and whatever else reads such archives. The same files
// give the same bytes: owner, order and times of the files are fixed.
//
//	images -name millicore/millicore:1.0 -out image.tar -entrypoint /millicore \
//	    linux/amd64=bin/image/linux-amd64 linux/arm64=bin/image/linux-arm64
//
// With -push the image goes to the registry in its name, with the
// credentials of `docker login`; -out is not needed then.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	gcrname "github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "images:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("images", flag.ExitOnError)
	name := flags.String("name", "", "the image's `name`, with its tag")
	out := flags.String("out", "", "the archive to write")
	push := flags.Bool("push", false, "push it to its registry")
	entrypoint := flags.String("entrypoint", "", "program and first arguments, separated by spaces")
	user := flags.String("user", "65532:65532", "numeric user and group")
	dir := flags.String("workdir", "/", "the folder that the program starts in")
	env := flags.String("env", "", "variables, separated by spaces: HOME=/tmp PATH=/")
	certificates := flags.Bool("certificates", false, "add Mozilla's certificate authorities, as of this module's requirements")
	flags.Parse(args)
	if *name == "" || *out == "" && !*push || flags.NArg() == 0 {
		return fmt.Errorf("usage: images -name NAME -out FILE [flags] OS/ARCH=FOLDER...; -help lists the flags")
	}
	full, err := fullName(*name)
	if err != nil {
		return err
	}
	var extra []file
	if *certificates {
		extra = append(extra, authorities())
	}
	var images []platformImage
	for _, arg := range flags.Args() {
		target, root, ok := strings.Cut(arg, "=")
		platform, err := v1.ParsePlatform(target)
		if !ok || err != nil {
			return fmt.Errorf("%q is not OS/ARCH=FOLDER", arg)
		}
		image, err := pack(*platform, root, extra, v1.Config{
			Entrypoint: strings.Fields(*entrypoint), User: *user, WorkingDir: *dir, Env: strings.Fields(*env),
		})
		if err != nil {
			return fmt.Errorf("pack %s for %s: %w", root, target, err)
		}
		images = append(images, platformImage{*platform, image})
	}
	index := indexOf(images)
	if *out != "" {
		if err := archive(*out, full, index); err != nil {
			return fmt.Errorf("write %s: %w", *out, err)
		}
	}
	if !*push {
		return nil
	}
	to, err := gcrname.ParseReference(full)
	if err != nil {
		return err
	}
	if err := remote.WriteIndex(to, index, remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return fmt.Errorf("push %s: %w; docker login stores credentials for its registry", full, err)
	}
	return nil
}
