// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ci

import (
	"path"
	"slices"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/trigger/due"
)

// comparison compares the Head of a repository with commits that an environment has deployed before, as one that was
// kept has. It reads each commit once, and is for one goroutine.
type comparison struct {
	repository     *workspace.Repository
	configurations configurations
	// files differ since a commit; there are none where the commits cannot be compared.
	files map[string]difference
	// touched are the answers for an application's file and a commit.
	touched map[[2]string]answer
}

type difference struct {
	files []string
	err   error
}

// answer is none at all unless it is known.
type answer struct{ touched, known bool }

func compareWith(r *workspace.Repository) *comparison {
	return &comparison{repository: r, files: map[string]difference{}, touched: map[[2]string]answer{}}
}

// touches reports whether Head has to be deployed for an application that a commit has deployed, as the trigger of
// piped will decide. A commit that is gone counts as one in which all files were others.
func (c *comparison) touches(file, commit string) answer {
	if commit == c.repository.Head {
		return answer{known: true}
	}
	key := [2]string{file, commit}
	found, asked := c.touched[key]
	if !asked {
		found = c.compare(file, commit)
		c.touched[key] = found
	}
	return found
}

func (c *comparison) compare(file, commit string) answer {
	if c.configurations == nil {
		read, err := c.repository.Configurations()
		if err != nil {
			return answer{}
		}
		c.configurations = read
	}
	if c.configurations[file] == nil {
		return answer{} // Head removes it
	}
	app := c.configurations.application(file)
	if app == nil {
		return answer{touched: true, known: true} // which piped is about to report
	}
	_, touched, err := due.OnCommit(app.Trigger.OnCommit, path.Dir(file), commit, c.repository.Head,
		func() ([]string, error) { return c.since(commit) })
	return answer{touched: touched || err != nil, known: true}
}

func (c *comparison) since(commit string) ([]string, error) {
	d, known := c.files[commit]
	if !known {
		d.files, d.err = c.repository.ChangedSince(commit)
		c.files[commit] = d
	}
	return d.files, d.err
}

// comparisons are those of all repositories of a run.
type comparisons []*comparison

func compareAll(all []*workspace.Repository) (list comparisons) {
	for _, r := range all {
		list = append(list, compareWith(r))
	}
	return list
}

// at reports whether an application that was deployed from a commit need not be deployed again. Of a repository that is
// not on this machine, only the state of the application is known.
func (c comparisons) at(app *deckv1.Application, commit string) bool {
	i := slices.IndexFunc(c, func(one *comparison) bool {
		return app.GetRepositoryId() == one.repository.ID || one.repository.ID == "" && isWatched(app)
	})
	if i >= 0 {
		if found := c[i].touches(pathOf(app), commit); found.known {
			return !found.touched
		}
	}
	return slices.ContainsFunc(c, func(one *comparison) bool { return one.repository.Head == commit }) ||
		app.GetSync() == deckv1.SyncStatus_SYNC_STATUS_SYNCED
}
