// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/git"
	"github.com/pipedeck/pipedeck/piped/secrets"
	"github.com/pipedeck/pipedeck/piped/source"
)

// repositories are the mirrors of the configured repositories, by id, and the checkouts of them.
type repositories struct {
	byID  map[string]*git.Repository
	store *source.Store
}

// repositoryOptions are what repositories need.
type repositoryOptions struct {
	piped     *config.Piped
	workDir   string
	decrypter secrets.Decrypter // nil without a key
	masker    *secrets.Masker
	logger    *slog.Logger
	// updated is called after each look for a new commit of a repository.
	updated func(repository string, took time.Duration, err error)
	// watched is called with the reason when a repository cannot be watched for changes, and with nil when it can.
	watched func(repository string, err error)
	// damaged is called when the mirror of a repository is damaged, and with nil when it is whole again.
	damaged func(repository string, err error)
}

func openRepositories(o repositoryOptions) (*repositories, error) {
	piped, workDir := o.piped, o.workDir
	store, err := source.New(source.Options{
		Dir: filepath.Join(workDir, "sources"), Decrypter: o.decrypter, Masker: o.masker, Logger: o.logger,
	})
	if err != nil {
		return nil, err
	}
	r := &repositories{byID: map[string]*git.Repository{}, store: store}
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
			ID: c.RepoID, Remote: c.Remote, Branch: c.Branch,
			Dir:      filepath.Join(workDir, "repositories", folderOf(c.RepoID)),
			Interval: piped.SyncInterval.Std(), Username: login.Username, Password: password, SSHKey: key,
			KnownHosts: knownHosts, Hosts: hosts,
			SSHConfigFile: login.SSHConfigFilePath, SSHHost: login.Host, SSHHostName: login.HostName, Logger: o.logger,
			Observer: git.Observer{
				Updated: func(took time.Duration, err error) { o.updated(c.RepoID, took, err) },
				Watched: func(err error) { o.watched(c.RepoID, err) },
				Damaged: func(err error) { o.damaged(c.RepoID, err) },
			},
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
func (r *repositories) close() error { return r.store.Close() }
