// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	pathpkg "path"
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/git"
	"github.com/pipedeck/pipedeck/piped/tracing"
)

// Sources finds the repositories of deployments and prepares their sources. It is safe for concurrent use.
type Sources struct {
	store        *Store
	repositories map[string]*git.Repository
	tracer       *tracing.Tracer
}

// NewSources returns the Sources of the repositories, which have their ids as keys. The tracer may be nil. The caller
// closes the store.
func NewSources(store *Store, repositories map[string]*git.Repository, tracer *tracing.Tracer) *Sources {
	return &Sources{store: store, repositories: repositories, tracer: tracer}
}

// Wanted says which source of a deployment's application is wanted.
type Wanted struct {
	Deployment *model.Deployment
	// Commit is the full hash.
	Commit string
	// ConfigFilename is the base name of the configuration; empty for the one that the deployment names.
	ConfigFilename string
	// Ahead says that the source is for later: Prepare returns ErrBusy rather than make others wait.
	Ahead bool
}

// Prepare returns a source with a directory. The caller closes it.
func (s *Sources) Prepare(ctx context.Context, wanted Wanted) (*Source, error) {
	return s.traced(ctx, wanted, s.store.Prepare)
}

// Describe returns a source without a directory, for plugins that read only the configuration. The caller closes it.
func (s *Sources) Describe(ctx context.Context, wanted Wanted) (*Source, error) {
	wanted.Ahead = false // there is next to nothing to wait for
	return s.traced(ctx, wanted, s.store.Describe)
}

// Head returns the repository of a deployment's application as it is at the head of the branch now. The application
// need not be there: the source has no configuration. The caller closes it.
func (s *Sources) Head(ctx context.Context, d *model.Deployment) (*Source, error) {
	repository, err := s.repository(d)
	if err != nil {
		return nil, err
	}
	head, err := repository.Head(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the head of repository %s: %w", repository.ID(), err)
	}
	path := d.GetGitPath()
	request := Request{
		Repository: repository, Commit: head.Hash, Path: path.GetPath(), ConfigFilename: path.GetConfigFilename(),
	}
	ctx, end := s.tracer.Part(ctx, "Prepare head", attribute.String("commit", head.Hash))
	source, err := s.store.Checkout(ctx, request)
	end(err)
	return source, err
}

// InGit looks whether the head of the branch has the configuration of a deployment's application, and returns that
// commit; empty when it has not.
func (s *Sources) InGit(ctx context.Context, d *model.Deployment) (commit string, err error) {
	repository, err := s.repository(d)
	if err != nil {
		return "", err
	}
	head, err := repository.Head(ctx)
	if err != nil {
		return "", fmt.Errorf("find the head of repository %s: %w", repository.ID(), err)
	}
	file := pathpkg.Join(d.GetGitPath().GetPath(),
		cmp.Or(d.GetGitPath().GetConfigFilename(), config.DefaultApplicationFilename))
	_, err = repository.ReadFile(ctx, head.Hash, file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("look for %s at commit %.7s: %w", file, head.Hash, err)
	}
	return head.Hash, nil
}

func (s *Sources) traced(
	ctx context.Context, wanted Wanted, prepare func(context.Context, Request) (*Source, error),
) (*Source, error) {
	repository, err := s.repository(wanted.Deployment)
	if err != nil {
		return nil, err
	}
	path := wanted.Deployment.GetGitPath()
	request := Request{
		Repository: repository, Commit: wanted.Commit, Path: path.GetPath(), ConfigFilename: wanted.ConfigFilename,
		Ahead: wanted.Ahead,
	}
	if request.ConfigFilename == "" {
		request.ConfigFilename = path.GetConfigFilename()
	}
	ctx, end := s.tracer.Part(
		ctx, "Prepare source", attribute.String("commit", wanted.Commit), attribute.Bool("ahead", wanted.Ahead),
	)
	source, err := prepare(ctx, request)
	if errors.Is(err, fs.ErrNotExist) && wanted.Deployment.GetApplicationName() != "" {
		name, _, missing := Former(ctx, repository, wanted.Commit, wanted.Deployment.GetApplicationName())
		if missing == nil {
			request.Path, request.ConfigFilename = pathpkg.Dir(name), pathpkg.Base(name)
			source, err = prepare(ctx, request)
		}
	}
	if errors.Is(err, ErrBusy) {
		end(nil)
	} else {
		end(err)
	}
	return source, err
}

// ChangedFiles lists the files that differ between two commits of a deployment's repository, relative to its root.
func (s *Sources) ChangedFiles(ctx context.Context, d *model.Deployment, from, to string) ([]string, error) {
	repository, err := s.repository(d)
	if err != nil {
		return nil, err
	}
	return repository.ChangedFiles(ctx, from, to)
}

// LeftOut lists what Git itself does not hold of the application's directory at a commit: each with its path and what
// it is instead.
func (s *Sources) LeftOut(ctx context.Context, d *model.Deployment, commit string) ([]string, error) {
	repository, err := s.repository(d)
	if err != nil {
		return nil, err
	}
	found, err := repository.LeftOut(ctx, commit, d.GetGitPath().GetPath())
	var list []string
	for _, one := range found {
		list = append(list, strings.ToValidUTF8(one.Path, "?")+" is "+one.Reason) // names in Git are bytes
	}
	return list, err
}

func (s *Sources) repository(d *model.Deployment) (*git.Repository, error) {
	id := d.GetGitPath().GetRepo().GetId()
	repository, ok := s.repositories[id]
	if !ok {
		return nil, fmt.Errorf(
			"repository %q of application %s is not in the piped configuration", id, d.GetApplicationName(),
		)
	}
	return repository, nil
}
