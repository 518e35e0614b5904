// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/go-version"

	"github.com/pipedeck/pipedeck/plugins/terraform/command"
	"github.com/pipedeck/pipedeck/plugins/terraform/config"
	"github.com/pipedeck/pipedeck/plugins/terraform/program"
)

// maxVersions bounds the programs whose versions are remembered.
const maxVersions = 100

// Programs finds programs. It asks each one for its version once, because the start of a program costs as much as a
// plan without changes.
type Programs struct {
	store *program.Store

	mu       sync.Mutex
	versions map[file]string
}

// file is one content of a file, as far as that can be known without reading it.
type file struct {
	path  string
	size  int64
	moved time.Time
}

// NewPrograms returns those that are downloaded into a directory, and those that are installed.
func NewPrograms(dir string) *Programs {
	return &Programs{store: program.NewStore(dir), versions: map[file]string{}}
}

// find returns the program for an application and its version: the installed one when it fits, else the newest one that
// can be downloaded and fits.
func (p *Programs) find(ctx context.Context, place Place) (path, have string, err error) {
	constraint := place.Source.App.TerraformVersion
	path, err = command.Find(place.Config.Binary)
	if err == nil {
		if have, err = p.version(ctx, path); err != nil {
			return "", "", err
		}
		err = command.CheckVersion(have, constraint)
	}
	if err == nil {
		return path, have, nil
	}
	wanted := newest(place.Config.Programs, constraint)
	if wanted == nil {
		return "", "", err
	}
	if path, err = p.store.Get(ctx, *wanted); err != nil {
		return "", "", err
	}
	if have, err = p.version(ctx, path); err != nil {
		return "", "", err
	}
	return path, have, command.CheckVersion(have, constraint)
}

// newest is the newest program that a constraint takes; nil for none.
func newest(programs []config.Program, constraint string) (found *config.Program) {
	var best *version.Version
	for i := range programs {
		one, err := version.NewVersion(programs[i].Version)
		if err != nil || command.CheckVersion(programs[i].Version, constraint) != nil {
			continue
		}
		if best == nil || one.GreaterThan(best) {
			best, found = one, &programs[i]
		}
	}
	return found
}

func (p *Programs) version(ctx context.Context, path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	key := file{path, info.Size(), info.ModTime()}
	p.mu.Lock()
	known, is := p.versions[key]
	p.mu.Unlock()
	if is {
		return known, nil
	}
	runner := &command.Runner{Program: path, Dir: os.TempDir(), Env: command.Environment()}
	have, err := runner.Version(ctx)
	if err != nil {
		return "", err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.versions) >= maxVersions {
		clear(p.versions)
	}
	p.versions[key] = have
	return have, nil
}
