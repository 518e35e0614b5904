// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"golang.org/x/sync/errgroup"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/git"
	"github.com/pipedeck/pipedeck/piped/planner"
	"github.com/pipedeck/pipedeck/piped/secrets"
	"github.com/pipedeck/pipedeck/piped/source"
	"github.com/pipedeck/pipedeck/piped/tracing"
)

// repositories are the mirrors of the configured repositories, by id.
type repositories struct {
	byID    map[string]*git.Repository
	sources *source.Store
	tracer  *tracing.Tracer
}

// updated is told of each look for a new commit of a repository.
type updated func(repository string, took time.Duration, err error)

// damaged is called when the mirror of a repository is damaged, and with nil when it is whole again.
type damaged func(repository string, err error)

// watched is told whether a repository can be watched for changes.
type watched func(repository string, err error)

func openRepositories(piped *config.Piped, workDir string, decrypter secrets.Decrypter, masker *secrets.Masker, updated updated, watched watched, damaged damaged, logger *slog.Logger) (*repositories, error) {
	sources, err := source.New(source.Options{
		Dir: filepath.Join(workDir, "sources"), Decrypter: decrypter, Masker: masker, Logger: logger,
	})
	if err != nil {
		return nil, err
	}
	r := &repositories{byID: map[string]*git.Repository{}, sources: sources}
	hosts := &git.Hosts{}
	for _, c := range piped.Repositories {
		login := piped.GitOf(c)
		password, key, err := gitSecrets(login)
		if err != nil {
			return nil, fmt.Errorf("log in to repository %s: %w", c.RepoID, err)
		}
		var knownHosts []string
		if login.KnownHostsFile != "" {
			knownHosts = []string{login.KnownHostsFile}
		}
		repository, err := git.Open(context.Background(), git.Options{
			ID: c.RepoID, Remote: c.Remote, Branch: c.Branch, Dir: filepath.Join(workDir, "repositories", folderOf(c.RepoID)),
			Interval: piped.SyncInterval.Std(), Username: login.Username, Password: password, SSHKey: key, KnownHosts: knownHosts, Hosts: hosts,
			SSHConfigFile: login.SSHConfigFilePath, SSHHost: login.Host, SSHHostName: login.HostName, Logger: logger,
			Updated: func(took time.Duration, err error) { updated(c.RepoID, took, err) },
			Watched: func(err error) { watched(c.RepoID, err) },
			Damaged: func(err error) { damaged(c.RepoID, err) },
		})
		if err != nil {
			return nil, err
		}
		r.byID[c.RepoID] = repository
	}
	return r, nil
}

// folderOf is the id of a repository as the name of a folder; ids that are none, or that lead elsewhere, are
// written as a URL would have them.
func folderOf(id string) string {
	folder := url.PathEscape(id)
	if strings.Trim(folder, ".") == "" || len(folder) > 200 {
		sum := sha256.Sum256([]byte(id))
		return hex.EncodeToString(sum[:])
	}
	return folder
}

func gitSecrets(c config.Git) (password string, key []byte, err error) {
	if c.Password != "" {
		data, err := base64.StdEncoding.DecodeString(c.Password)
		if err != nil {
			return "", nil, fmt.Errorf("decode spec.git.password: %w; it is the password in base64", err)
		}
		password = string(data)
	}
	switch {
	case c.SSHKeyData != "":
		if key, err = base64.StdEncoding.DecodeString(c.SSHKeyData); err != nil {
			return "", nil, fmt.Errorf("decode spec.git.sshKeyData: %w; it is the key in base64", err)
		}
	case c.SSHKeyFile != "":
		if key, err = os.ReadFile(c.SSHKeyFile); err != nil {
			return "", nil, fmt.Errorf("read the ssh key (spec.git.sshKeyFile): %w", err)
		}
	}
	return password, key, nil
}

// run watches all repositories until ctx ends.
func (r *repositories) run(ctx context.Context) error {
	watches, ctx := errgroup.WithContext(ctx)
	for _, repository := range r.byID {
		watches.Go(func() error { return repository.Run(ctx) })
	}
	return watches.Wait()
}

// all are the mirrors in the order of their ids.
func (r *repositories) all() []*git.Repository {
	var list []*git.Repository
	for _, id := range slices.Sorted(maps.Keys(r.byID)) {
		list = append(list, r.byID[id])
	}
	return list
}

// close removes what was checked out.
func (r *repositories) close() error { return r.sources.Close() }

func (r *repositories) of(d *model.Deployment) (*git.Repository, error) {
	id := d.GetGitPath().GetRepo().GetId()
	repository, ok := r.byID[id]
	if !ok {
		return nil, fmt.Errorf("repository %q of application %s is not in the piped configuration", id, d.GetApplicationName())
	}
	return repository, nil
}

func (r *repositories) changedFiles(ctx context.Context, d *model.Deployment, from, to string) ([]string, error) {
	repository, err := r.of(d)
	if err != nil {
		return nil, err
	}
	return repository.ChangedFiles(ctx, from, to)
}

// leftOut is planner.Options.LeftOut.
func (r *repositories) leftOut(ctx context.Context, d *model.Deployment, commit string) ([]string, error) {
	repository, err := r.of(d)
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

// prepare is planner.Prepare.
func (r *repositories) prepare(ctx context.Context, d *model.Deployment, commit, configFilename string) (planner.Source, error) {
	return r.make(ctx, r.sources.Prepare, d, commit, configFilename, false)
}

// prepareAhead is planner.Prepare for later.
func (r *repositories) prepareAhead(ctx context.Context, d *model.Deployment, commit, configFilename string) (planner.Source, error) {
	return r.make(ctx, r.sources.Prepare, d, commit, configFilename, true)
}

// describe is planner.Prepare without a directory.
func (r *repositories) describe(ctx context.Context, d *model.Deployment, commit, configFilename string) (planner.Source, error) {
	return r.make(ctx, r.sources.Describe, d, commit, configFilename, false)
}

func (r *repositories) make(ctx context.Context, how func(context.Context, source.Request) (*source.Source, error), d *model.Deployment, commit, configFilename string, ahead bool) (planner.Source, error) {
	repository, err := r.of(d)
	if err != nil {
		return nil, err
	}
	if configFilename == "" {
		configFilename = d.GetGitPath().GetConfigFilename()
	}
	ctx, end := r.tracer.Part(ctx, "Prepare source", attribute.String("commit", commit), attribute.Bool("ahead", ahead))
	made, err := how(ctx, source.Request{
		Repository: repository, Commit: commit, Path: d.GetGitPath().GetPath(), ConfigFilename: configFilename, Ahead: ahead,
	})
	if errors.Is(err, source.ErrBusy) {
		end(nil)
	} else {
		end(err)
	}
	if err != nil {
		return nil, err // not made: a nil pointer would not be a nil Source
	}
	return made, nil
}
