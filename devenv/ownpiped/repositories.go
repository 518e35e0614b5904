// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ownpiped

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"

	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config"
)

// checkRepositories opens the repositories on this machine, and refuses an id of the environment.
func (c *Config) checkRepositories() {
	raw := list(c.spec, "repositories")
	for i, repository := range c.Piped.Repositories {
		at := fmt.Sprintf("spec.repositories[%d]", i)
		if repository.RepoID == workspace.RepositoryID {
			c.report.Add(at+".repoId", fmt.Sprintf("%q is the repository of the environment: choose another id",
				workspace.RepositoryID))
		}
		path, local := repository.LocalPath()
		if !local || c.report.Failed(at+".remote") {
			continue
		}
		path = c.absolute(path)
		// PipeCD's piped takes URLs only. A percent sign begins an escape in one.
		raw[i]["remote"] = "file://" + strings.ReplaceAll(path, "%", "%25")
		if repository.Branch == "" || c.report.Failed(at+".branch") {
			continue
		}
		opened, err := workspace.OpenBranch(path, repository.Branch)
		if err != nil {
			field, hint := at+".remote", ""
			if problem := (*workspace.RepositoryError)(nil); errors.As(err, &problem) {
				hint = "; " + problem.Hint
				if strings.HasPrefix(problem.Problem, "has no branch") {
					field = at + ".branch"
				}
			}
			c.report.Add(field, err.Error()+hint)
			continue
		}
		opened.ID = repository.RepoID
		c.Local = append(c.Local, opened)
	}
}

// NextTo returns what is taken over next to the repository that the environment watches: the keys of the spec, and the
// further repositories on this machine. A repository of the file that is the watched one is left out, and named in the
// warnings: both would deploy the same applications.
func (c *Config) NextTo(watched *workspace.Repository) (spec map[string]any, local []*workspace.Repository,
	warnings []string) {
	alone := *c.report
	alone.Warnings = nil
	replaced := map[string]bool{}
	var repositories []any
	for i, raw := range list(c.spec, "repositories") {
		repository := c.Piped.Repositories[i]
		if !c.isWatched(repository, watched) {
			repositories = append(repositories, raw)
			continue
		}
		replaced[repository.RepoID] = true
		alone.Warn(fmt.Sprintf("spec.repositories[%d]", i), fmt.Sprintf("not taken over: it is the repository that "+
			"the environment watches in %s as %q", watched.Root, workspace.RepositoryID))
	}
	spec = maps.Clone(c.spec)
	spec["repositories"] = repositories
	if _, has := spec["eventWatcher"]; has {
		spec["eventWatcher"] = eventWatcher(mapping(spec, "eventWatcher"), replaced)
	}
	for _, repository := range c.Local {
		if !replaced[repository.ID] {
			local = append(local, repository)
		}
	}
	return spec, local, lines(alone.Warnings)
}

// isWatched reports whether a repository of the file is the watched one, or what that was cloned from.
func (c *Config) isWatched(repository config.Repository, watched *workspace.Repository) bool {
	for _, local := range c.Local {
		same := local.ID == repository.RepoID && sameDirectory(local.Root, watched.Root)
		if same && (local.Branch == watched.Branch || watched.Detached) {
			return true
		}
	}
	return watched.Origin != "" && config.SameRemote(repository.Remote, watched.Origin)
}

// sameDirectory reports whether two paths lead to the same directory.
func sameDirectory(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// eventWatcher has the settings of a repository that was replaced hold for the watched one.
func eventWatcher(settings map[string]any, replaced map[string]bool) map[string]any {
	settings = maps.Clone(settings)
	var repositories []any
	seen := map[string]bool{}
	// What the file says of the environment's repository itself counts more.
	for _, renamed := range []bool{false, true} {
		for _, raw := range list(settings, "gitRepos") {
			id, _ := raw["repoId"].(string)
			if replaced[id] != renamed {
				continue
			}
			if renamed {
				raw, id = maps.Clone(raw), workspace.RepositoryID
				raw["repoId"] = id
			}
			if !seen[id] {
				repositories = append(repositories, raw)
			}
			seen[id] = true
		}
	}
	if repositories != nil {
		settings["gitRepos"] = repositories
	}
	return settings
}
