// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/kind/pkg/apis/config/defaults"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	kindcluster "sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/kind/pkg/cluster/nodes"
	"sigs.k8s.io/kind/pkg/cluster/nodeutils"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/kind/record"
)

// pullImages brings the node images here, so that kind's library never waits for a registry: it
// could not be interrupted there.
func (p *Provider) pullImages(
	ctx context.Context, engine *engineCommand, wanted *v1alpha4.Cluster, progress cluster.Progress,
) error {
	for _, image := range nodeImages(wanted) {
		if _, err := engine.run(ctx, "inspect", "--type=image", image); err == nil {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		progress("pulling the node image "+image, 0, 0)
		if err := engine.pull(ctx, image,
			func(line string) { progress("pulling the node image "+image+": "+line, 0, 0) }); err != nil {
			return &cluster.HintError{
				Err: fmt.Errorf("the node image %s is not on this machine and cannot be pulled: %w", image, err),
				Hint: engine.name + " pull " + image +
					" when the registry can be reached, or choose another with --node-image",
			}
		}
	}
	return nil
}

func nodeImages(wanted *v1alpha4.Cluster) []string {
	var images []string
	for _, node := range wanted.Nodes {
		if !slices.Contains(images, node.Image) {
			images = append(images, node.Image)
		}
	}
	return images
}

// defaultNodeImage is the one that kind was tested with.
const defaultNodeImage = defaults.Image

func (e *engineCommand) pull(ctx context.Context, image string, said func(line string)) error {
	cmd := exec.CommandContext(ctx, e.name, "pull", image)
	separate(cmd)
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, in
	ended := make(chan error, 1)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("run %s pull: %w", e.name, err)
	}
	go func() {
		err := cmd.Wait()
		in.Close()
		ended <- err
	}()
	var last string
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); line != "" {
			last = line
			said(line)
		}
	}
	// A line past the scanner's limit ends it; the command must not wait for a reader.
	_, _ = io.Copy(io.Discard, out)
	err := <-ended
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	default:
		return &commandError{[]string{e.name, "pull", image}, last, err}
	}
}

// LoadImage implements cluster.Provider: the archive goes to all nodes at once.
func (p *Provider) LoadImage(ctx context.Context, image cluster.Image) error {
	if image.Archive == "" {
		return cluster.ErrNeedsArchive
	}
	known, err := record.Read(p.Dir)
	if err != nil {
		return err
	}
	if known == nil {
		return errors.New("there is no kind cluster to load an image into")
	}
	library := kindcluster.NewProvider((&engineCommand{known.Engine}).option())
	targets, err := library.ListInternalNodes(known.Cluster)
	if err != nil {
		return fmt.Errorf("list the nodes of the cluster %s: %w", known.Cluster, err)
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, node := range targets {
		group.Go(func() error { return p.loadOnNode(ctx, node, image.Archive, image.References) })
	}
	return group.Wait()
}

func (p *Provider) loadOnNode(ctx context.Context, node nodes.Node, archive string, references []string) error {
	file, err := os.Open(archive)
	if err != nil {
		return fmt.Errorf("open the image archive: %w", err)
	}
	defer file.Close()
	if err := nodeutils.LoadImageArchive(node, &interruptible{ctx, file}); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return p.explain(fmt.Errorf("load %s into the node %s: %w", archive, node, err))
	}
	for _, reference := range references {
		if _, err := nodeutils.ImageID(node, reference); err != nil {
			return fmt.Errorf("the archive %s was loaded, but the node %s knows no image %s: %w", archive, node,
				reference, err)
		}
	}
	return nil
}

// interruptible ends with its context, which the library does not take.
type interruptible struct {
	ctx context.Context
	io.Reader
}

func (r *interruptible) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}
