// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/google/uuid"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/embedded"
	"github.com/pipedeck/pipedeck/devenv/cluster/kind"
	"github.com/pipedeck/pipedeck/devenv/image"
	"github.com/pipedeck/pipedeck/devenv/image/archive"
)

func (o options) provider(dir string) (cluster.Provider, error) {
	data, log := filepath.Join(dir, "data"), filepath.Join(dir, "log")
	if o.kind {
		return kind.New(kind.Config{
			Environment: "test", Cluster: uuid.NewString()[:8], NodeImage: o.nodeImage,
			Dir: data, Kubeconfig: kubeconfig(dir), LogFile: log, Logger: logger(),
		}), nil
	}
	program, err := embedded.FromCheckout(".")
	if err != nil {
		return nil, err
	}
	return embedded.New(embedded.Config{
		Program: program, Dir: data, Kubeconfig: kubeconfig(dir), LogFile: log, Logger: logger(),
	}), nil
}

// load builds the Go program in a folder below the working directory, and gives the nodes its image.
func load(ctx context.Context, cache, folder string, provider cluster.Provider) (reference string, err error) {
	directory, err := os.Getwd()
	if err != nil {
		return "", err
	}
	sources, err := image.FindSources(directory, image.Domain+"/"+filepath.ToSlash(folder))
	if err != nil {
		return "", err
	}
	if sources == nil {
		return "", fmt.Errorf("there is no Go program in %s", folder)
	}
	reference = sources.Reference()
	archive, err := image.NewBuilder(cache, archive.Writer{}).Build(ctx, sources,
		image.Platform{OS: "linux", Architecture: runtime.GOARCH}, []string{reference}, func(string) {})
	if err != nil {
		return "", err
	}
	return reference, provider.LoadImage(ctx, cluster.Image{Archive: archive, References: []string{reference}})
}
