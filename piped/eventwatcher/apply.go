// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package eventwatcher

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/pipedeck/pipedeck/piped/eventwatcher/edit"
	"github.com/pipedeck/pipedeck/piped/git"
	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// maxValue bounds the value of an event, in bytes.
	maxValue = 64 << 10
	// maxTries bounds the pushes of one event to one repository. PipeCD v1: 3, with 5 s between.
	maxTries = 5
	// pushPause is the ceiling of the pause before the second try; it doubles with each.
	pushPause = time.Second
)

// branchNames is the space of the UUIDs in names of branches.
var branchNames = uuid.NewSHA1(uuid.NameSpaceURL, []byte("https://pipecd.dev/event-watcher/branch"))

// apply carries out all rules for the event, one commit each. It returns a sentence for each rule or
// repository that is done, and for each that has failed.
func (w *Watcher) apply(ctx context.Context, e event, rules []*rule) (done, failed []string) {
	direct := map[*git.Repository][]*rule{}
	for _, r := range rules {
		if !r.config.MakePullRequest {
			direct[r.repository] = append(direct[r.repository], r)
		}
	}
	for _, r := range rules {
		together := []*rule{r}
		if !r.config.MakePullRequest {
			together = direct[r.repository]
			delete(direct, r.repository)
		}
		if len(together) == 0 {
			continue // was with the first of its repository
		}
		good, bad := w.push(ctx, e, together)
		done, failed = append(done, good...), append(failed, bad...)
	}
	return done, failed
}

// push commits and pushes rules of one repository together, until no one else pushes in between.
func (w *Watcher) push(ctx context.Context, e event, rules []*rule) (done, failed []string) {
	repository := rules[0].repository
	backoff := clock.NewBackoff(pushPause, longestPause)
	for try := 1; ; try++ {
		work, bad, err := w.draft(ctx, e, rules)
		if err == nil && !work.Empty() {
			err = w.send(ctx, e, work, rules[0])
		}
		var known *git.RepositoryError
		final := errors.As(err, &known) && !errors.Is(err, git.ErrMoved)
		switch {
		case err == nil:
			if len(bad) < len(rules) {
				done = append(done, say(repository, work, e, rules[0]))
			}
			return done, bad
		case ctx.Err() != nil, final, try == maxTries:
			return nil, append(bad, err.Error())
		}
		w.logger.Debug(
			"a push for an event is tried again", "event", e.GetName(), "repository", repository.ID(), "try", try,
			"error", err,
		)
		_ = backoff.Wait(ctx, w.options.Clock) // the next try ends with ctx
	}
}

// send pushes to the branch, or to a new one for a pull request. The name of that one belongs to the event
// and the rule: when there is such a branch already, an earlier piped has pushed it.
func (w *Watcher) send(ctx context.Context, e event, work *git.Draft, r *rule) error {
	if !r.config.MakePullRequest {
		return work.Push(ctx)
	}
	err := work.PushNew(ctx, branchName(e, r))
	if errors.Is(err, git.ErrMoved) {
		return nil
	}
	return err
}

func say(repository *git.Repository, work *git.Draft, e event, r *rule) string {
	switch {
	case work.Empty():
		return fmt.Sprintf("Nothing to change in repository %s: the value is there already", repository.ID())
	case r.config.MakePullRequest:
		return fmt.Sprintf("Pushed branch %s to repository %s", branchName(e, r), repository.ID())
	default:
		return fmt.Sprintf(
			"Pushed commit %.7s to branch %s of repository %s", work.Head(), repository.Branch(), repository.ID(),
		)
	}
}

// branchName is the event's name and a UUID (PipeCD v1).
func branchName(e event, r *rule) string {
	id := uuid.NewSHA1(
		branchNames, fmt.Appendf(nil, "%s\x00%s\x00%s\x00%d", e.GetId(), r.repository.ID(), r.source, r.index),
	)
	safe := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			return c
		}
		return '-'
	}, e.GetName())
	return strings.TrimLeft(safe, "-") + "-" + id.String()
}

// draft makes the commits upon the newest one of the branch. A rule that cannot be carried out is reported
// among the failed and makes no commit; the error is about the repository.
func (w *Watcher) draft(ctx context.Context, e event, rules []*rule) (work *git.Draft, failed []string, err error) {
	head, err := rules[0].repository.Update(ctx)
	if err != nil {
		return nil, nil, err
	}
	if work, err = rules[0].repository.Draft(ctx, head.Hash); err != nil {
		return nil, nil, err
	}
	for _, r := range rules {
		files, err := changes(ctx, work, e.GetData(), r)
		if err == nil && len(files) > 0 {
			err = work.Commit(ctx, git.Change{
				Files: files, Message: w.message(e, r), Name: w.options.Name, Email: w.options.Email,
				At: w.options.Clock.Now(),
			})
		}
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err != nil {
			failed = append(failed, fmt.Sprintf("Failed to change files for %s: %v", r.source, err))
		}
	}
	return work, failed, nil
}

// changes returns the new contents of the files that the value changes.
func changes(ctx context.Context, work *git.Draft, value string, r *rule) (map[string][]byte, error) {
	if len(r.config.Replacements) == 0 {
		return nil, errors.New("it names no replacements")
	}
	files := map[string][]byte{}
	for _, replacement := range r.config.Replacements {
		name, err := inRepository(r.dir, replacement.File)
		if err != nil {
			return nil, err
		}
		before, touched := files[name]
		if !touched {
			if before, err = work.ReadFile(ctx, name); errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("there is no file %s in the repository", name)
			} else if err != nil {
				return nil, err
			}
		}
		after, err := edit.Replace(before, replacement, value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if touched || string(after) != string(before) {
			files[name] = after
		}
	}
	return files, nil
}

// inRepository joins the path of a file, which may lead to another directory of the repository but not out
// of it.
func inRepository(dir, file string) (string, error) {
	name := path.Join(dir, file)
	if path.IsAbs(file) || name == "." || name == ".." || strings.HasPrefix(
		name, "../",
	) || strings.HasPrefix(name, "/") {
		return "", fmt.Errorf("the file %q is not in the repository", file)
	}
	return name, nil
}
