// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package eventwatcher

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/moby/patternmatcher"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/git"
)

// sharedDir holds files of the kind EventWatcher.
const sharedDir = ".pipe/"

// maxSharedFiles bounds the files that are read in sharedDir.
const maxSharedFiles = 1000

// rule is one place of the configuration that wants an event.
type rule struct {
	repository *git.Repository
	// source says where the rule stands, for people; index distinguishes rules of one source.
	source string
	index  int
	// dir is what files are relative to, from the root of the repository.
	dir    string
	config config.EventHandlerConfig
}

// rules reads the configurations at the heads of all repositories. Those that cannot be read are in the
// error; a mistake in one file does not touch the others.
func (w *Watcher) rules(ctx context.Context) (map[key][]*rule, error) {
	found := map[key][]*rule{}
	add := func(name string, labels map[string]string, r *rule) {
		k := keyOf(name, labels)
		found[k] = append(found[k], r)
	}
	answer, err := w.options.ControlPlane.ListApplications(ctx, &pipedservice.ListApplicationsRequest{})
	if err != nil {
		return nil, fmt.Errorf("list the applications: %w", err)
	}
	var unread error
	heads, errs := w.heads(ctx)
	for i, repository := range w.options.Repositories {
		head, err := heads[i], errs[i]
		if err != nil {
			unread = errors.Join(unread, err)
			continue
		}
		for _, a := range answer.GetApplications() {
			if a.GetGitPath().GetRepo().GetId() == repository.ID() && !a.GetDisabled() {
				w.ofApplication(ctx, repository, head.Hash, a, add)
			}
		}
		if err := w.ofSharedFiles(ctx, repository, head.Hash, add); err != nil {
			unread = errors.Join(unread, err)
		}
	}
	return found, unread
}

// headTimeout bounds how long events wait for a repository that they may not be for. A download that takes longer is
// the trigger's; once it has ended, the next try finds the commit in the mirror.
const headTimeout = 10 * time.Second

// heads asks all repositories at the same time; a server that does not answer holds up no other for long.
func (w *Watcher) heads(ctx context.Context) ([]git.Commit, []error) {
	heads, errs := make([]git.Commit, len(w.options.Repositories)), make([]error, len(w.options.Repositories))
	var looks sync.WaitGroup
	for i, repository := range w.options.Repositories {
		looks.Go(func() {
			ctx, cancel := context.WithTimeoutCause(
				ctx, w.headTimeout,
				fmt.Errorf("repository %s did not report its head within %s", repository.ID(), w.headTimeout),
			)
			defer cancel()
			if heads[i], errs[i] = repository.Update(ctx); errs[i] != nil && ctx.Err() != nil {
				errs[i] = context.Cause(ctx)
			}
		})
	}
	looks.Wait()
	return heads, errs
}

func (w *Watcher) ofApplication(
	ctx context.Context, repository *git.Repository, head string, a *model.Application,
	add func(string, map[string]string, *rule),
) {
	dir := path.Clean(a.GetGitPath().GetPath())
	filename := a.GetGitPath().GetConfigFilename()
	if filename == "" {
		filename = config.DefaultApplicationFilename
	}
	name := path.Join(dir, filename)
	data, err := repository.ReadFile(ctx, head, name)
	if err != nil || !bytes.Contains(data, []byte("eventWatcher")) {
		return // the trigger reports a missing or broken file
	}
	application, err := config.ParseApplication(data, name)
	if err != nil {
		w.logger.Debug(
			"the event watcher skips an invalid application configuration", "application", a.GetName(), "error", err,
		)
		return
	}
	for i, r := range application.EventWatcher {
		add(r.Matcher.Name, r.Matcher.Labels, &rule{
			repository: repository, source: "application " + a.GetName(), index: i, dir: dir, config: r.Handler.Config,
		})
	}
}

func (w *Watcher) ofSharedFiles(
	ctx context.Context, repository *git.Repository, head string, add func(string, map[string]string, *rule),
) error {
	narrowed := config.EventWatcherRepository{}
	for _, c := range w.options.Config.GitRepos {
		if c.RepoID == repository.ID() {
			narrowed = c
		}
	}
	files, err := repository.FindFiles(ctx, head, func(name string) bool {
		inside, ok := strings.CutPrefix(name, sharedDir)
		return ok && (path.Ext(name) == ".yaml" || path.Ext(name) == ".yml" || path.Ext(name) == ".json") &&
			wanted(narrowed, inside)
	})
	if err != nil {
		return err
	}
	for _, name := range files[:min(len(files), maxSharedFiles)] {
		data, err := repository.ReadFile(ctx, head, name)
		if err != nil || !bytes.Contains(data, []byte(config.KindEventWatcher)) {
			continue
		}
		file, err := config.ParseEventWatcher(data, name)
		if err != nil {
			w.logger.Warn("the event watcher skips a file", "repository", repository.ID(), "file", name, "error", err)
			continue
		}
		for i, e := range file.Events {
			add(e.Name, e.Labels, &rule{
				repository: repository, source: name, index: i,
				config: config.EventHandlerConfig{CommitMessage: narrowed.CommitMessage, Replacements: e.Replacements},
			})
		}
	}
	return nil
}

// wanted reports whether a file of sharedDir is read: excludes win over includes, and no includes are all.
func wanted(c config.EventWatcherRepository, name string) bool {
	return !matches(c.Excludes, name) && (len(c.Includes) == 0 || matches(c.Includes, name))
}

func matches(patterns []string, name string) bool {
	if len(patterns) == 0 {
		return false
	}
	ok, err := patternmatcher.MatchesOrParentMatches(name, patterns)
	return err == nil && ok
}
