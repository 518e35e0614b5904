// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pipedeck/pipedeck/piped/git"
	"github.com/pipedeck/pipedeck/piped/redeploy"
	"github.com/pipedeck/pipedeck/piped/source"
	"github.com/pipedeck/pipedeck/piped/trigger/due"
)

// unusableCommitError says why an earlier commit cannot be deployed.
type unusableCommitError struct {
	application, commit string
	cause               error
}

// Error names the application, the commit and the cause.
func (e *unusableCommitError) Error() string {
	return fmt.Sprintf("commit %.7s of application %s cannot be deployed: %v", e.commit, e.application, e.cause)
}

// Unwrap returns the cause.
func (e *unusableCommitError) Unwrap() error { return e.cause }

// createPast creates a deployment of the earlier commit that a command names. The commit that was looked at last stays
// the one that the next is compared with, so nothing but a new commit, a sync or drift deploys the newest.
func (t *Trigger) createPast(ctx context.Context, c *candidate, w request) error {
	looked, err := t.history.previous(ctx, c.application)
	if err != nil {
		return err
	}
	at, behind, err := c.past(ctx, w.past, looked)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &unusableCommitError{c.application.GetName(), w.past.Commit, err}
	}
	why := w.cause
	newer := ""
	if behind {
		newer = looked
	}
	why.notes = w.past.Notes(newer)
	if w.past.RollbackTo != "" || w.past.Named() && behind {
		at.post = nil // the chain would deploy the newest commits of other applications
	}
	if err := t.createAt(ctx, c, at, why); err != nil {
		return err
	}
	t.again = true // the branch may have moved in this pass
	return nil
}

// past reads the application at the commit of a request. behind says that the commit which was looked at last has other
// files of the application.
func (c *candidate) past(
	ctx context.Context, of redeploy.Request, looked string,
) (at revision, behind bool, err error) {
	mirror := c.repository.git
	var commit git.Commit
	if of.Named() {
		commit, err = mirror.Ancestor(ctx, c.snapshot.head.Hash, of.Commit)
	} else {
		commit, err = mirror.Commit(ctx, of.Commit)
	}
	if err != nil {
		return revision{}, false, err
	}
	hash := commit.Hash
	name, data, err := c.configurationAt(ctx, hash)
	if err != nil {
		return revision{}, false, err
	}
	read := readFile(name, data, nil)
	if read.err != nil {
		return revision{}, false, fmt.Errorf("its configuration is invalid: %w", read.err)
	}
	at = revision{commit, read.application, cmp.Or(looked, hash), read.application.PostSync}
	if at.looked == hash {
		return at, false, nil
	}
	files, err := mirror.ChangedFiles(ctx, at.looked, hash) // all of them, when looked exists no more
	if err != nil {
		return revision{}, false, err
	}
	rule := read.application.Trigger.OnCommit
	if c.config != nil {
		rule = c.config.Trigger.OnCommit
	}
	_, behind, err = due.Touches(rule, c.application.GetGitPath().GetPath(), files)
	return at, behind, err
}

// configurationAt reads the configuration of the application at a commit, where it may have had another place.
func (c *candidate) configurationAt(ctx context.Context, hash string) (name string, data []byte, err error) {
	name = configFileOf(c.application)
	data, err = c.repository.git.ReadFile(ctx, hash, name)
	if !errors.Is(err, fs.ErrNotExist) {
		return name, data, err
	}
	former, data, missing := source.Former(ctx, c.repository.git, hash, c.application.GetName())
	if missing == nil {
		return former, data, nil
	}
	if !errors.Is(missing, fs.ErrNotExist) {
		return "", nil, missing
	}
	return "", nil, fmt.Errorf("the application was not in Git then: neither is there %s, nor one other configuration "+
		"with its name: %w; choose a commit that has it: pipedeck history %s", name, fs.ErrNotExist,
		c.application.GetName())
}
