// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"

	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/git"
)

// sharedDir holds configuration that the applications of a repository share.
const sharedDir = ".pipe"

// Request says which application at which commit.
type Request struct {
	Repository Repository
	// Commit is the full hash.
	Commit string
	// Path is the application's directory below the repository's root, with slashes; "." is the root.
	Path string
	// ConfigFilename is the base name of the configuration; empty means app.pipecd.yaml.
	ConfigFilename string
	// Ahead says that the source is for later: Prepare returns ErrBusy rather than make others wait.
	Ahead bool
}

// Source is a directory for one plugin call. Close it when the call has ended.
type Source struct {
	// Config is the application's configuration; nil after Checkout.
	Config *config.Application
	// RawConfig is the configuration as it is in Git; nil after Checkout.
	RawConfig []byte
	// ConfigFilename is its base name.
	ConfigFilename string
	// Commit is the full hash.
	Commit string
	// RepositoryDirectory and ApplicationDirectory are absolute; empty after Describe.
	RepositoryDirectory  string
	ApplicationDirectory string
	// LeftOut names what of the commit is not in the directory.
	LeftOut []git.LeftOut
	// Closed is called by the first Close, to give back what else belongs to the source; nil for nothing.
	Closed func()

	store *Store
	tree  *tree // nil after Describe
	once  sync.Once
}

// Prepare checks the repository out, reads the application's configuration, and puts decrypted secrets and
// attachments where the configuration wants them.
func (s *Store) Prepare(ctx context.Context, request Request) (*Source, error) {
	source, err := s.Checkout(ctx, request)
	if err != nil {
		return nil, err
	}
	err = source.readConfig(path.Join(request.Path, source.ConfigFilename))
	if err == nil {
		err = source.fill(ctx, request.Path)
	}
	if err != nil {
		return nil, errors.Join(err, source.Close())
	}
	return source, nil
}

// Checkout is Prepare for the other files of the repository: the application need not be there, its configuration is
// not read, and no secrets are decrypted.
func (s *Store) Checkout(ctx context.Context, request Request) (*Source, error) {
	if err := request.check(); err != nil {
		return nil, err
	}
	t, err := s.take(ctx, request.Repository, request.Commit, request.Ahead)
	if err != nil {
		return nil, fmt.Errorf("prepare source of %s at commit %s: %w", request.Path, request.Commit, err)
	}
	return &Source{
		ConfigFilename:       request.ConfigFilename,
		Commit:               request.Commit,
		RepositoryDirectory:  t.dir,
		ApplicationDirectory: filepath.Join(t.dir, filepath.FromSlash(request.Path)),
		LeftOut:              t.left,
		store:                s,
		tree:                 t,
	}, nil
}

// check fills in defaults and refuses what leads elsewhere.
func (r *Request) check() error {
	if r.ConfigFilename == "" {
		r.ConfigFilename = config.DefaultApplicationFilename
	}
	if !filepath.IsLocal(filepath.FromSlash(r.Path)) {
		return fmt.Errorf(
			"prepare source: the application path %q is not inside of repository %s", r.Path, r.Repository.ID(),
		)
	}
	if path.Base(r.ConfigFilename) != r.ConfigFilename {
		return fmt.Errorf(
			"prepare source: the configuration file name %q must not contain a directory", r.ConfigFilename,
		)
	}
	return nil
}

func (s *Source) readConfig(name string) error {
	raw, err := readInside(s.RepositoryDirectory, name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("application configuration %s is missing at commit %s: %w", name, s.Commit, fs.ErrNotExist)
	}
	if err != nil {
		return fmt.Errorf("read application configuration %s at commit %s: %w", name, s.Commit, err)
	}
	return s.parse(raw, name)
}

func (s *Source) parse(raw []byte, name string) (err error) {
	s.RawConfig = raw
	s.Config, err = config.ParseApplication(raw, name)
	return err
}

// readInside reads a file below dir; links that lead out are refused by os.Root.
func readInside(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, config.MaxSize+1))
}

// Proto returns the message for the plugin.
func (s *Source) Proto() *common.DeploymentSource {
	message := &common.DeploymentSource{
		ApplicationDirectory:      s.ApplicationDirectory,
		CommitHash:                s.Commit,
		ApplicationConfig:         s.RawConfig,
		ApplicationConfigFilename: s.ConfigFilename,
	}
	if s.RepositoryDirectory != "" {
		message.SharedConfigDirectory = filepath.Join(s.RepositoryDirectory, sharedDir)
	}
	return message
}

// Application returns Config.
func (s *Source) Application() *config.Application { return s.Config }

// Close gives the directory back; no one may use it any more. It may be called more than once. The error
// says that a directory could not be removed.
func (s *Source) Close() error {
	var err error
	s.once.Do(func() {
		if s.tree != nil {
			err = s.store.give(s.tree)
		}
		if s.Closed != nil {
			s.Closed()
		}
	})
	return err
}
