// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/goccy/go-yaml"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/helm"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/rendering"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
)

// maxRequest bounds a request to render, in bytes.
const maxRequest = 64 << 20

// ServeIfRendering renders applications and ends the process when the program was started for that.
func ServeIfRendering() {
	if len(os.Args) != 2 || os.Args[1] != rendering.Argument {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	err := Render(ctx, os.Stdin, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Render answers a request of package rendering.
func Render(ctx context.Context, in io.Reader, out io.Writer) error {
	var request rendering.Request
	if err := json.NewDecoder(io.LimitReader(in, maxRequest)).Decode(&request); err != nil {
		return fmt.Errorf("read what to render: %w", err)
	}
	loader := stage.NewLoader(manifest.NewLoader(), nil, nil)
	loader.RenderIn(helm.NewChildren(helm.Limits{}))
	defer loader.Close()
	loader.Disconnect()
	answers := json.NewEncoder(out)
	for _, app := range request.Applications {
		answer := rendering.Rendered{File: app.File}
		manifests, err := loadApplication(ctx, loader, request.Root, app)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			answer.Error = err.Error()
		}
		answer.Kinds = kindsOf(manifests)
		if err := answers.Encode(answer); err != nil {
			return err
		}
	}
	return nil
}

func loadApplication(ctx context.Context, loader *stage.Loader, root string, app rendering.Application) (
	[]manifest.Manifest, error) {
	var document struct {
		Spec struct {
			Plugins struct {
				Kubernetes any `yaml:"kubernetes"`
			} `yaml:"plugins"`
		} `yaml:"spec"`
	}
	if err := yaml.Unmarshal([]byte(app.Content), &document); err != nil {
		return nil, err
	}
	source, err := stage.SourceAt(root, app.File, []byte(app.Content), document.Spec.Plugins.Kubernetes)
	if err != nil {
		return nil, err
	}
	return loader.Load(ctx, nil, source, false)
}

// kindsOf counts the objects of each kind.
func kindsOf(manifests []manifest.Manifest) (kinds []rendering.Kind) {
	at := map[string]int{}
	for _, m := range manifests {
		i, known := at[m.GetKind()]
		if !known {
			i = len(kinds)
			at[m.GetKind()] = i
			kinds = append(kinds, rendering.Kind{Kind: m.GetKind()})
		}
		kinds[i].Count++
	}
	return kinds
}
