// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"slices"
	"sync"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// applicationsKey is where piped answers which applications it has. PipeCD's piped does not.
const applicationsKey sdk.SharedKey[[]KnownApplication] = "pipedeck/applications"

// KnownApplication is an application of this piped.
type KnownApplication struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Repository is its name in the configuration of piped.
	Repository string `json:"repository"`
	// File is the configuration of the application, relative to the repository.
	File string `json:"file"`
	// Targets are its deploy targets by the names of their plugins.
	Targets map[string][]string `json:"targets"`
}

// deploysTo reports whether the application has a deploy target. The plugin for one cluster deploys to the first alone.
func (a KnownApplication) deploysTo(target string) bool {
	for plugin, names := range a.Targets {
		if plugin == singlePlugin && len(names) > 1 {
			names = names[:1]
		}
		if slices.Contains(names, target) {
			return true
		}
	}
	return false
}

// KnownApplications are the other applications of this piped, if it says so.
type KnownApplications []KnownApplication

// knownApplications asks piped for its applications. What cannot be known is not needed: the labels in Git have to do.
func knownApplications(ctx context.Context, req *Request) KnownApplications {
	known, _, err := applicationsKey.Get(ctx, req.Client)
	if err != nil {
		return nil
	}
	return known
}

// naming returns what names applications by their ids. It asks piped when the first name is wanted.
func naming(ctx context.Context, req *Request) func(id string) string {
	known := sync.OnceValue(func() KnownApplications { return knownApplications(ctx, req) })
	return func(id string) string { return known().named(id) }
}

// inRepository are the applications of a repository by their files.
func (k KnownApplications) inRepository(id string) map[string]KnownApplication {
	byFile := map[string]KnownApplication{}
	for _, a := range k {
		if a.Repository == id {
			byFile[a.File] = a
		}
	}
	return byFile
}

// named is the name of the application with an id; the id when it is not known.
func (k KnownApplications) named(id string) string {
	for _, a := range k {
		if a.ID == id && a.Name != "" {
			return a.Name
		}
	}
	return id
}
