// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/pipedeck/pipedeck/piped/git/address"
	"github.com/pipedeck/pipedeck/system/clock"
)

// Options say which repository to mirror, and where.
type Options struct {
	// ID is the name of the repository in the piped configuration.
	ID string
	// Remote is a local path, or a file, ssh, scp-like or http(s) URL.
	Remote string
	Branch string
	// Dir is the bare mirror's directory; created when missing. One process may use it at a time.
	Dir string
	// Interval is the polling interval of remotes that are not on this machine. Default 1m.
	Interval time.Duration
	// Username and Password log in to http(s) remotes; SSHKey (PEM) to ssh ones, which the ssh agent does
	// without one. All may be empty.
	Username, Password string
	SSHKey             []byte
	// SSHConfigFile is an ssh configuration whose HostName, Port and User count for ssh remotes; empty for the
	// user's own.
	SSHConfigFile string
	// SSHHost is an alias for the host SSHHostName, when that is not empty. Both win over the ssh configuration.
	SSHHost, SSHHostName string
	// KnownHosts are the files with the keys of ssh servers; empty for those of ssh.
	KnownHosts []string
	// Idle bounds the silence of a server. Default 1m.
	Idle time.Duration
	// Hosts bounds how many repositories of one host are asked at a time; nil for no bound.
	Hosts *Hosts
	// Observer sees what becomes of the repository.
	Observer Observer
	// Clock is what the watch of the branch waits by; the system's by default.
	Clock clock.Timer
	// Logger receives what the repository has to say; nothing is logged when nil.
	Logger *slog.Logger
}

// Observer sees what becomes of a repository. Each function may be nil, and must return at once.
type Observer struct {
	// Updated gets how long each Update took and how it ended.
	Updated func(took time.Duration, err error)
	// Watched is called when a local repository cannot be watched for changes, and with nil when it can again; piped
	// reads it every 5 s meanwhile.
	Watched func(err error)
	// Damaged is called when the mirror is found damaged, and with nil after the first Update since it was repaired.
	Damaged func(err error)
}

// Repository is the mirror of one branch. Its methods may be called from several goroutines. It joins the parts: the
// mirror on disk, the origin that the commits come from, and what watches, repairs and cleans up.
type Repository struct {
	options  Options
	name     name
	mirror   *mirror
	remote   *remote
	origin   origin
	commits  *commits
	watcher  *watcher
	repairer *repairer
	cleaner  *cleaner
}

// Open prepares the mirror without asking the remote: Update reports a repository that is missing or empty, since it
// may be created later.
func Open(ctx context.Context, options Options) (*Repository, error) {
	if options.Interval <= 0 {
		options.Interval = time.Minute
	}
	if options.Clock == nil {
		options.Clock = clock.System{}
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.Idle <= 0 {
		options.Idle = idleTimeout
	}
	name := name{id: options.ID, branch: options.Branch, remote: address.WithoutCredentials(options.Remote)}
	if err := address.CheckBranch(options.Branch); err != nil {
		return nil, name.problem(ErrNoBranch, err.Error())
	}
	location, err := address.Parse(options.Remote)
	if err != nil {
		return nil, &RepositoryError{Remote: options.ID, Reason: ErrNotRepository, Hint: err.Error()}
	}
	r := newRepository(options, name, location)
	if err := r.mirror.open(ctx); err != nil {
		return nil, fmt.Errorf("open mirror of repository %s in %s: %w", options.ID, options.Dir, err)
	}
	return r, nil
}

func newRepository(options Options, name name, location address.Address) *Repository {
	logger, bounds := options.Logger.With("repository", options.ID), defaultBounds()
	m := &mirror{dir: options.Dir, name: name, logger: logger, writing: newTurn(), loads: newLoads(bounds.look)}
	r := &Repository{
		options: options, name: name, mirror: m, remote: newRemote(options, name, location),
		watcher: &watcher{
			id: options.ID, changed: make(chan struct{}, 1), interval: options.Interval,
			report: options.Observer.Watched, clock: options.Clock, logger: logger,
		},
	}
	if location.Scheme == "file" {
		source := local{
			path: location.Path, remote: options.Remote, branch: plumbing.NewBranchReferenceName(options.Branch),
		}
		watched := source
		r.origin, r.watcher.source = &copier{source: &source, mirror: m}, &watched
	} else {
		past := &pastStore{
			dir: options.Dir + ".history", name: name, remote: r.remote, logger: logger, using: newTurn(),
		}
		r.origin = &fetcher{remote: r.remote, mirror: m, past: past, logger: logger}
	}
	r.commits = &commits{mirror: m, origin: r.origin}
	r.repairer = &repairer{mirror: m, again: r.watcher.signal, report: options.Observer.Damaged}
	r.cleaner = &cleaner{mirror: m, repairer: r.repairer, bounds: bounds}
	return r
}

// ID is the name of the repository in the piped configuration.
func (r *Repository) ID() string { return r.options.ID }

// Remote is the repository as configured.
func (r *Repository) Remote() string { return r.options.Remote }

// Branch is the branch as configured.
func (r *Repository) Branch() string { return r.options.Branch }

// Changed delivers a value after the branch may have moved: fetch with Update then. Values are merged,
// never lost. Run feeds it.
func (r *Repository) Changed() <-chan struct{} { return r.watcher.changed }

// Run feeds Changed until ctx ends: from file events for a local repository, from the clock for others. It keeps
// the mirror clean as well.
func (r *Repository) Run(ctx context.Context) error {
	var cleaner sync.WaitGroup
	defer cleaner.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cleaner.Go(func() { r.cleaner.run(ctx) })
	r.mirror.loads.request() // what a former process has left
	return r.watcher.run(ctx)
}

// Update brings the newest commit of the branch into the mirror and returns it. The mirror stays usable meanwhile.
func (r *Repository) Update(ctx context.Context) (Commit, error) {
	began := time.Now()
	commit, err := retried(ctx, r.repairer, func() (Commit, error) { return r.update(ctx) })
	if err == nil {
		r.repairer.note(nil)
	}
	if updated := r.options.Observer.Updated; updated != nil && ctx.Err() == nil {
		updated(time.Since(began), err)
	}
	return commit, err
}

func (r *Repository) update(ctx context.Context) (Commit, error) {
	head, err := r.origin.look(ctx)
	if err != nil {
		return Commit{}, err
	}
	r.mirror.setHead(head)
	v, done := r.mirror.view()
	defer done()
	return v.commit(head)
}

// Head is the newest commit of the branch: as Update has it, or, while the source cannot be reached, the one that was
// the newest when it last could.
func (r *Repository) Head(ctx context.Context) (Commit, error) {
	head, err := r.Update(ctx)
	known, _, _ := r.mirror.usage()
	if err == nil || ctx.Err() != nil || known.IsZero() {
		return head, err
	}
	return r.Commit(ctx, known.String())
}

// Commit returns one commit, fetching it when only the source has it.
func (r *Repository) Commit(ctx context.Context, hash string) (Commit, error) {
	return retried(ctx, r.repairer, func() (Commit, error) { return r.commits.get(ctx, hash) })
}

// ChangedFiles returns the paths that differ between two commits, sorted; a renamed file counts as both of
// its names. When from is empty or exists nowhere any more, every file of to has changed.
func (r *Repository) ChangedFiles(ctx context.Context, from, to string) ([]string, error) {
	return retried(ctx, r.repairer, func() ([]string, error) { return r.commits.changedFiles(ctx, from, to) })
}

// ReadFile returns the content of a regular file of a commit. The error is fs.ErrNotExist when there is no such file.
func (r *Repository) ReadFile(ctx context.Context, hash, name string) ([]byte, error) {
	return retried(ctx, r.repairer, func() ([]byte, error) { return r.commits.readFile(ctx, hash, name) })
}

// FindFiles returns the paths of the files of a commit for which match holds, sorted.
func (r *Repository) FindFiles(ctx context.Context, hash string, match func(path string) bool) ([]string, error) {
	return retried(ctx, r.repairer, func() ([]string, error) { return r.commits.findFiles(ctx, hash, match) })
}
