// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"strings"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/git"
)

// moves finds applications whose directory was renamed: the configuration of an application is gone, a new one in the
// same repository has its name, and more than half of the files of the old directory are in the new one.
type moves struct {
	repositories map[string]*repository
	history      *history
	logger       *slog.Logger
	// refused are moves that the control plane has not made, by the application and the new file.
	refused map[[2]string]bool
}

func newMoves(repositories map[string]*repository, h *history, logger *slog.Logger) *moves {
	return &moves{repositories: repositories, history: h, logger: logger, refused: map[[2]string]bool{}}
}

// namedPlace is the name of an application in a repository.
type namedPlace struct{ repository, name string }

// find returns the applications that were moved, by their new files as fileKey has them.
func (m *moves) find(
	ctx context.Context, registered map[string]*model.Application, snapshots map[string]snapshot,
	selects func(*file) bool,
) (map[string]*model.Application, error) {
	gone := missing(registered, snapshots)
	if len(gone) == 0 {
		return nil, nil
	}
	found := map[string]*model.Application{}
	for at, files := range added(registered, snapshots, selects) {
		if len(gone[at]) != 1 || len(files) != 1 {
			continue
		}
		a, to := gone[at][0], files[0]
		if m.refused[[2]string{a.GetId(), to.path}] {
			continue
		}
		same, err := m.resembles(ctx, a, to, snapshots[at.repository].head.Hash)
		if err != nil {
			return nil, fmt.Errorf(
				"compare the former directory of application %s with %s: %w", a.GetName(), to.dir(), err,
			)
		}
		if same {
			found[fileKey(at.repository, to.path)] = a
		}
	}
	return found, nil
}

// missing are the applications without a configuration.
func missing(
	registered map[string]*model.Application, snapshots map[string]snapshot,
) map[namedPlace][]*model.Application {
	gone := map[namedPlace][]*model.Application{}
	for _, a := range registered {
		id := a.GetGitPath().GetRepo().GetId()
		if now, known := snapshots[id]; known && now.head.Hash != "" && now.files[configFileOf(a)] == nil {
			at := namedPlace{id, a.GetName()}
			gone[at] = append(gone[at], a)
		}
	}
	return gone
}

// added are the configurations without an application.
func added(
	registered map[string]*model.Application, snapshots map[string]snapshot, selects func(*file) bool,
) map[namedPlace][]*file {
	found := map[namedPlace][]*file{}
	for id, now := range snapshots {
		for name, f := range now.files {
			if f.application != nil && selects(f) && registered[fileKey(id, name)] == nil {
				at := namedPlace{id, f.name}
				found[at] = append(found[at], f)
			}
		}
	}
	return found
}

// resembles compares the directory as it was deployed last with the new one. Nothing is known of an application that
// was never deployed but its name. A commit that is not there any more resembles nothing.
func (m *moves) resembles(ctx context.Context, a *model.Application, to *file, head string) (bool, error) {
	last, err := m.history.deployed(ctx, a)
	if err != nil || last == "" {
		return err == nil, err
	}
	mirror := m.repositories[a.GetGitPath().GetRepo().GetId()].git
	before, err := filesBelow(ctx, mirror, last, path.Dir(configFileOf(a)))
	var gone *git.RepositoryError
	if errors.As(err, &gone) {
		m.logger.Warn("an application is not taken for a moved one: the commit that was deployed last cannot be read",
			"application", a.GetName(), "commit", last, "error", err)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	after, err := filesBelow(ctx, mirror, head, to.dir())
	if err != nil {
		return false, err
	}
	common := 0
	for name := range before {
		if after[name] {
			common++
		}
	}
	return 2*common > len(before), nil
}

// filesBelow are the files of a directory, relative to it.
func filesBelow(ctx context.Context, mirror *git.Repository, commit, dir string) (map[string]bool, error) {
	if _, err := mirror.Commit(ctx, commit); err != nil {
		return nil, err
	}
	prefix := dir + "/"
	if dir == "." {
		prefix = ""
	}
	names, err := mirror.FindFiles(ctx, commit, func(name string) bool { return strings.HasPrefix(name, prefix) })
	if err != nil {
		return nil, err
	}
	below := make(map[string]bool, len(names))
	for _, name := range names {
		below[strings.TrimPrefix(name, prefix)] = true
	}
	return below, nil
}

// made notes which of the moves the control plane has not made: PipeCD's keeps the place of an application. Its new
// configuration is another application there.
func (m *moves) made(asked map[string]*model.Application, now map[string]*model.Application) (all bool) {
	all = true
	for key, a := range asked {
		if now[key].GetId() != a.GetId() {
			_, file, _ := strings.Cut(key, "\x00")
			m.refused[[2]string{a.GetId(), file}] = true
			all = false
		}
	}
	return all
}
