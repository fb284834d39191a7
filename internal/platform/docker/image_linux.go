package docker

import (
	"archive/tar"
	"context"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

// goProgram is the program of the sample service go, beside millicore.
const goProgram = "millicore-go"

// built are the images of sample services that are built from a Dockerfile, because
// they need a runtime.
var built = map[string]string{"node": "millicore-node", "bun": "millicore-bun"}

// listen are the arguments that set the address of every sample service.
var listen = []string{"--host", "${host}", "--port", "${port}"}

// Workload returns the image of a sample service. The image of go is made here, FROM
// scratch, with one static program.
func (d *docker) Workload(ctx context.Context, name string) (image string, arguments []string, err error) {
	if image, ok := built[name]; ok {
		_, err := d.api.ImageInspect(ctx, image)
		if errdefs.IsNotFound(err) {
			return "", nil, fmt.Errorf("Docker has no image %s; build it in millicore's source: docker build -t %s -f workloads/%s/Dockerfile workloads", image, image, name)
		}
		return image, listen, err
	}
	if name != "go" {
		return "", nil, fmt.Errorf("the sample service %q has no image; use --on local", name)
	}
	image, err = d.goImage(ctx)
	return image, listen, err
}

// goImage returns the image of the sample service go. The first call makes it.
func (d *docker) goImage(ctx context.Context) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if image := d.made[goProgram]; image != "" {
		return image, nil
	}
	program := filepath.Join(d.options.Programs, goProgram)
	if err := static(program); err != nil {
		return "", err
	}
	image := d.owner.image()
	if err := d.importImage(ctx, image, program); err != nil {
		return "", fmt.Errorf("make the image %s: %w", image, err)
	}
	d.made[goProgram] = image
	return image, nil
}

// static reports why a program cannot run in an empty image.
func static(program string) error {
	file, err := elf.Open(program)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s is not beside millicore in %s; `make build` puts all programs into bin/", filepath.Base(program), filepath.Dir(program))
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", program, err)
	}
	defer file.Close()
	for _, p := range file.Progs {
		if p.Type == elf.PT_INTERP {
			return fmt.Errorf("%s needs the C library of this machine, which its image does not have: build it with CGO_ENABLED=0, as `make build` does", program)
		}
	}
	return nil
}

// importImage makes an image with one program as its entry point.
func (d *docker) importImage(ctx context.Context, image, program string) error {
	name := filepath.Base(program)
	changes := []string{fmt.Sprintf(`ENTRYPOINT ["/%s"]`, name)}
	labels := d.owner.labels()
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		changes = append(changes, fmt.Sprintf("LABEL %s=%q", label, labels[label]))
	}
	layer, into := io.Pipe()
	defer layer.Close()
	go func() { into.CloseWithError(writeLayer(into, program)) }()
	answer, err := d.api.ImageImport(ctx, client.ImageImportSource{Source: layer, SourceName: "-"}, image,
		client.ImageImportOptions{Message: "millicore's sample service", Changes: changes})
	if err != nil {
		return err
	}
	defer answer.Close()
	return streamError(answer)
}

// writeLayer writes a file system with one program in it.
func writeLayer(to io.Writer, program string) error {
	file, err := os.Open(program)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	layer := tar.NewWriter(to)
	header := &tar.Header{Name: filepath.Base(program), Typeflag: tar.TypeReg, Mode: 0o755, Size: info.Size(), ModTime: info.ModTime()}
	if err := layer.WriteHeader(header); err != nil {
		return err
	}
	if _, err := io.Copy(layer, file); err != nil {
		return err
	}
	return layer.Close()
}

// streamError reads the daemon's progress messages, JSON objects, and returns the error in
// them, if any.
func streamError(answer io.Reader) error {
	for messages := json.NewDecoder(answer); ; {
		var message struct{ Error string }
		switch err := messages.Decode(&message); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case message.Error != "":
			return errors.New(message.Error)
		}
	}
}

// Fetch pulls an image if Docker does not have it, and returns its digest.
func (d *docker) Fetch(ctx context.Context, image string) (digest string, err error) {
	found, err := d.api.ImageInspect(ctx, image)
	if errdefs.IsNotFound(err) {
		if err := d.pull(ctx, image); err != nil {
			return "", err
		}
		found, err = d.api.ImageInspect(ctx, image)
	}
	if err != nil {
		return "", fmt.Errorf("inspect the image %s: %w", image, err)
	}
	if len(found.RepoDigests) > 0 {
		_, digest, _ := strings.Cut(found.RepoDigests[0], "@")
		return digest, nil
	}
	return found.ID, nil
}

func (d *docker) pull(ctx context.Context, image string) error {
	d.options.Note("pulling the image " + image)
	answer, err := d.api.ImagePull(ctx, image, client.ImagePullOptions{})
	if err == nil {
		err = errors.Join(answer.Wait(ctx), answer.Close())
	}
	if err != nil {
		return fmt.Errorf("Docker has no image %s and cannot pull it: %w; pull it first (docker pull %s, after docker login if the registry needs it) or build it (docker build)", image, err, image)
	}
	return nil
}
