// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ownpiped

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/system/inputfile"
)

// Surroundings are what an environment has by itself.
type Surroundings struct {
	// Bundled are the names of the plugins that come with pipedeck, Given those that the user gives by --plugin.
	Bundled, Given []string
	// Clusters are the names of the clusters, each of which is a deploy target of the plugins in OnClusters.
	Clusters, OnClusters []string
	// Foreign says that piped is not ours, and knows only the keys of PipeCD.
	Foreign bool
	// Check adds to the report what is wrong with the parts that plugins own; may be nil.
	Check func(*config.Report)
}

// Config is the piped configuration of a user as far as an environment takes it over.
type Config struct {
	// Dir is the directory of the file: piped runs there, so that paths in the configuration of plugins are relative to
	// the file, too.
	Dir string
	// Piped is what the file holds, with absolute paths, and without what is not taken over.
	Piped *config.Piped
	// Local are the repositories on this machine, without the environment's own.
	Local []*workspace.Repository

	// spec are the keys to take over in the form of JSON.
	spec   map[string]any
	report *config.Report
	// skipped are the names of plugins that are left out.
	skipped map[string]bool
}

// Read reads the file. Mistakes in it, and conflicts with the environment that nothing can settle, come back as
// config.Errors.
func Read(file string, around Surroundings) (*Config, error) {
	data, dir, err := read(file)
	if err != nil {
		return nil, err
	}
	return parse(data, file, dir, around)
}

// read returns the content of a file, and the directory that its relative paths begin at.
func read(file string) (data []byte, dir string, err error) {
	if dir, err = directory(file); err != nil {
		return nil, "", err
	}
	opened, err := inputfile.Open(file)
	if err != nil {
		return nil, "", fmt.Errorf("read the piped configuration: %w", err)
	}
	defer opened.Close()
	if data, err = io.ReadAll(io.LimitReader(opened, config.MaxSize+1)); err != nil {
		return nil, "", fmt.Errorf("read the piped configuration: %w", err)
	}
	if isKey(data) { // which messages about its content would repeat
		return nil, "", config.Errors{{File: file, Message: "holds a key, not a configuration of piped"}}
	}
	return data, dir, nil
}

// isKey reports whether a file is a private key in place of a configuration that holds one.
func isKey(data []byte) bool {
	return !bytes.Contains(data, []byte("kind")) &&
		(bytes.Contains(data, []byte("PRIVATE KEY-----")) || bytes.Contains(data, []byte("AGE-SECRET-KEY-")))
}

// parse reads the content of a file in the directory dir; name is the file in messages.
func parse(data []byte, name, dir string, around Surroundings) (*Config, error) {
	report := config.CheckProvided(data, name, config.Provided{
		Plugins: slices.Concat(around.Bundled, around.Given), Repositories: []string{workspace.RepositoryID},
	})
	if report.Piped == nil {
		return nil, report.Errors
	}
	if around.Check != nil {
		around.Check(report)
	}
	c := newConfig(report, dir)
	c.resolvePaths()
	c.leaveOutOwned()
	c.checkRepositories()
	c.checkPlugins(around)
	c.checkSecrets()
	if around.Foreign {
		c.leaveOutOurs()
	}
	report.Sort()
	if len(report.Errors) > 0 {
		return nil, report.Errors
	}
	return c, nil
}

// Warnings say what of the file is not taken over, each with its place, and what is used instead.
func (c *Config) Warnings() []string { return lines(c.report.Warnings) }

func lines(list config.Errors) (all []string) {
	for _, e := range list {
		all = append(all, e.Error())
	}
	return all
}
