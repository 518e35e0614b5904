// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-git/go-billy/v5/osfs"
	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/pipedeck/pipedeck/piped/git/address"
)

// cacheSize bounds the objects kept in memory for one repository.
const cacheSize = 16 * cache.MiByte

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
	// Updated is told how long each Update took and how it ended; nil for nobody.
	Updated func(took time.Duration, err error)
	// Watched is told when a local repository cannot be watched for changes, and with nil when it can again; it is
	// looked at every 5 s meanwhile. It may be nil, and must return at once.
	Watched func(err error)
	// Damaged is called when the mirror is found damaged, and with nil after the first Update since it was repaired. It
	// may be nil, and must return at once.
	Damaged func(err error)
	// Logger receives what the repository has to say; nothing is logged when nil.
	Logger *slog.Logger
}

// Commit is one commit. Its message is split as Git does: Subject is the first paragraph on one line.
type Commit struct {
	Hash    string
	Subject string
	Body    string
	// Author is the name, without the e-mail address.
	Author    string
	CreatedAt time.Time
}

// Repository is the mirror of one branch. Its methods may be called from several goroutines.
type Repository struct {
	options Options
	logger  *slog.Logger
	changed chan struct{}
	address address.Address
	// local is nil when the remote is not on this machine.
	local *local

	// packs holds a value while somebody brings objects into the mirror, or cleans it up, and guards local.
	packs chan struct{}
	// due has a value when the mirror may need to be cleaned up.
	due    chan struct{}
	bounds bounds

	// mu guards what follows. Nobody waits for a server under it.
	mu sync.Mutex
	// mirror is not safe for concurrent use.
	mirror *filesystem.Storage
	head   plumbing.Hash
	used   uses
	// loads counts what was brought since the mirror was last looked at.
	loads int
	// repairs counts how often the mirror was repaired, damaged is true from a repair to the next Update.
	repairs uint64
	damaged bool

	// lastDamage is the object that was damaged at the last repair; it belongs to the holder of packs.
	lastDamage plumbing.Hash

	// histories holds a value while somebody uses the directory with the history of a server's repository.
	histories chan struct{}
}

// Open prepares the mirror without asking the remote: that a repository is missing or empty is told by
// Update, since it may come into being later.
func Open(ctx context.Context, options Options) (*Repository, error) {
	if options.Interval <= 0 {
		options.Interval = time.Minute
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.Idle <= 0 {
		options.Idle = idleTimeout
	}
	if err := address.CheckBranch(options.Branch); err != nil {
		return nil, &RepositoryError{Remote: address.WithoutCredentials(options.Remote), Reason: ErrNoBranch, Hint: err.Error()}
	}
	branch := plumbing.NewBranchReferenceName(options.Branch)
	remote, err := address.Parse(options.Remote)
	if err != nil {
		return nil, &RepositoryError{Remote: options.ID, Reason: ErrNotRepository, Hint: err.Error()}
	}
	r := &Repository{
		options: options, address: remote, logger: options.Logger.With("repository", options.ID), changed: make(chan struct{}, 1),
		packs: make(chan struct{}, 1), due: make(chan struct{}, 1), histories: make(chan struct{}, 1), bounds: defaultBounds(),
	}
	if remote.Scheme == "file" {
		r.local = &local{path: remote.Path, remote: options.Remote, branch: branch}
	}
	if err := r.openMirror(ctx); err != nil {
		return nil, fmt.Errorf("open mirror of repository %s in %s: %w", options.ID, options.Dir, err)
	}
	return r, nil
}

func (r *Repository) openMirror(ctx context.Context) error {
	if err := os.MkdirAll(r.options.Dir, 0o700); err != nil {
		return err
	}
	if err := errors.Join(r.finishPruning(), r.checkPacks(r.options.Dir, r.setAside)); err != nil {
		return err
	}
	r.openStorage()
	if err := r.salvage(ctx); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(r.options.Dir, "HEAD")); err == nil {
		r.readHead()
		return nil
	}
	_, err := gogit.InitWithOptions(r.mirror, nil, gogit.InitOptions{DefaultBranch: plumbing.NewBranchReferenceName(r.options.Branch)})
	if errors.Is(err, gogit.ErrRepositoryAlreadyExists) {
		return nil
	}
	return err
}

// openStorage opens the mirror with empty caches.
func (r *Repository) openStorage() {
	files := osfs.New(r.options.Dir, osfs.WithBoundOS())
	r.mirror = filesystem.NewStorageWithOptions(files, cache.NewObjectLRU(cacheSize), filesystem.Options{LargeObjectThreshold: largeObject})
}

// readHead takes the head from the mirror, if its commit is there.
func (r *Repository) readHead() {
	ref, err := r.mirror.Reference(plumbing.NewBranchReferenceName(r.options.Branch))
	if err == nil && r.mirror.HasEncodedObject(ref.Hash()) == nil {
		r.head = ref.Hash()
		r.used.add(r.head)
	}
}

// ID is the name of the repository in the piped configuration.
func (r *Repository) ID() string { return r.options.ID }

// Remote is the repository as configured.
func (r *Repository) Remote() string { return r.options.Remote }

// Branch is the branch as configured.
func (r *Repository) Branch() string { return r.options.Branch }

// Changed delivers a value after the branch may have moved: fetch with Update then. Values are merged,
// never lost. Run feeds it.
func (r *Repository) Changed() <-chan struct{} { return r.changed }

func (r *Repository) signal() {
	select {
	case r.changed <- struct{}{}:
	default: // One is waiting already.
	}
}

// Update brings the newest commit of the branch into the mirror and returns it. The mirror stays usable meanwhile.
func (r *Repository) Update(ctx context.Context) (Commit, error) {
	began := time.Now()
	commit, err := retried(ctx, r, func() (Commit, error) { return r.update(ctx) })
	if err == nil {
		r.reportDamage(nil)
	}
	if r.options.Updated != nil && ctx.Err() == nil {
		r.options.Updated(time.Since(began), err)
	}
	return commit, err
}

func (r *Repository) update(ctx context.Context) (Commit, error) {
	look := r.lookRemote
	if r.local != nil {
		look = r.lookLocal
	}
	head, err := look(ctx)
	if err != nil {
		return Commit{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used.add(head)
	if head != r.head {
		r.head = head
		r.remember(head)
	}
	return r.commit(head)
}

// remember points the mirror's branch at the head, for the next process, and marks that its history is not there,
// for Git's own programs. The caller holds mu.
func (r *Repository) remember(head plumbing.Hash) {
	branch := plumbing.NewBranchReferenceName(r.options.Branch)
	err := r.mirror.SetShallow([]plumbing.Hash{head})
	if err == nil {
		err = r.mirror.SetReference(plumbing.NewHashReference(branch, head))
	}
	if err != nil {
		r.logger.Debug("cannot note the head in the mirror", "error", err)
	}
}

// recent are commits that the mirror has, the one used last first.
func (r *Repository) recent() []plumbing.Hash {
	r.mu.Lock()
	defer r.mu.Unlock()
	var haves []plumbing.Hash
	for _, id := range r.used.newest(maxUses) {
		if len(haves) < maxHaves && r.mirror.HasEncodedObject(id) == nil {
			haves = append(haves, id)
		}
	}
	return haves
}

func (r *Repository) lookLocal(ctx context.Context) (plumbing.Hash, error) {
	if err := r.lockPacks(ctx); err != nil {
		return plumbing.ZeroHash, err
	}
	defer r.unlockPacks()
	head, err := r.local.head()
	if err == nil && !r.has(head) {
		err = r.copyCommit(ctx, head)
	}
	return head, err
}

// Commit returns one commit, fetching it when only the source has it.
func (r *Repository) Commit(ctx context.Context, hash string) (Commit, error) {
	return retried(ctx, r, func() (Commit, error) { return r.ensuredCommit(ctx, hash) })
}

func (r *Repository) ensuredCommit(ctx context.Context, hash string) (Commit, error) {
	id, err := r.ensure(ctx, hash)
	if err != nil {
		return Commit{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.commit(id)
}

// has tells whether the mirror has the commit, which is remembered as used.
func (r *Repository) has(id plumbing.Hash) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mirror.HasEncodedObject(id) != nil {
		return false
	}
	r.used.add(id)
	return true
}

// ensure makes sure that the commit is in the mirror. It may wait for a server.
func (r *Repository) ensure(ctx context.Context, hash string) (plumbing.Hash, error) {
	if err := ctx.Err(); err != nil {
		return plumbing.ZeroHash, err
	}
	if !plumbing.IsHash(hash) {
		return plumbing.ZeroHash, r.noCommit(hash)
	}
	id := plumbing.NewHash(hash)
	if r.has(id) {
		return id, nil
	}
	if err := r.lockPacks(ctx); err != nil {
		return plumbing.ZeroHash, err
	}
	defer r.unlockPacks()
	if r.has(id) { // somebody else has brought it meanwhile
		return id, nil
	}
	bring := r.fetchCommit
	if r.local != nil {
		bring = r.copyCommit
	}
	err := bring(ctx, id)
	switch {
	case err == nil && r.has(id):
		return id, nil
	case ctx.Err() != nil:
		return plumbing.ZeroHash, ctx.Err()
	case err != nil && !errors.Is(err, plumbing.ErrObjectNotFound) && r.local == nil:
		return plumbing.ZeroHash, err
	}
	return plumbing.ZeroHash, r.noCommit(hash)
}

// lockPacks waits until nobody else brings objects into the mirror.
func (r *Repository) lockPacks(ctx context.Context) error {
	select {
	case r.packs <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

var errPacksInUse = errors.New("somebody else brings objects into the mirror")

// tryPacks is lockPacks without waiting.
func (r *Repository) tryPacks() (release func(), err error) {
	select {
	case r.packs <- struct{}{}:
		return r.unlockPacks, nil
	default:
		return nil, errPacksInUse
	}
}

func (r *Repository) unlockPacks() { <-r.packs }

func (r *Repository) noCommit(hash string) error {
	return &RepositoryError{Remote: address.WithoutCredentials(r.options.Remote), Reason: ErrNoCommit, Hint: fmt.Sprintf("%q is neither in the mirror nor in the repository; it may have been removed by a force push", hash)}
}

func (r *Repository) commit(id plumbing.Hash) (Commit, error) {
	commit, err := object.GetCommit(r.mirror, id)
	if err != nil {
		return Commit{}, fmt.Errorf("repository %s: %w", r.options.ID, readError("commit", id, err))
	}
	subject, body := splitMessage(textOf(commit, commit.Message))
	return Commit{Hash: id.String(), Subject: subject, Body: body, Author: textOf(commit, commit.Author.Name), CreatedAt: commit.Committer.When}, nil
}
