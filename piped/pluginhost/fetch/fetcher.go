// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/system/clock"
)

// Defaults of Options.
const (
	DefaultMaxSize      = 1 << 30 // bytes
	DefaultMaxKept      = 4 << 30 // bytes
	DefaultStallTimeout = 30 * time.Second
	DefaultPause        = 500 * time.Millisecond
	attempts            = 4
	maxPause            = 5 * time.Second
	// askTimeout is how long a server may take to say whether its content is the one that is here.
	askTimeout = 10 * time.Second
)

// Options of a Fetcher.
type Options struct {
	// Dir keeps what was fetched. It is created when missing, and several processes may share it.
	Dir string
	// MaxSize in bytes; default 1 GiB.
	MaxSize int64
	// MaxKept bounds in bytes what Dir keeps; what is in use stays even so. Default 4 GiB.
	MaxKept int64
	// StallTimeout is how long nothing may come before a download is given up. Default 30 s.
	StallTimeout time.Duration
	// Pause comes before the second try, and doubles with each one. Default 0.5 s.
	Pause time.Duration
	// Clock is for the pauses between tries. Default: the system's.
	Clock clock.Timer
	// Transport makes requests; nil for one with the proxies of the environment.
	Transport http.RoundTripper
	// DockerConfig is the file with logins of registries; empty for that of the user.
	DockerConfig string
	Logger       *slog.Logger
}

// Fetcher gets files. Its methods may be called from any goroutine.
type Fetcher struct {
	options Options
	cache   cache
	client  *http.Client
	// held is the digest of the binary that each plugin has got.
	mu   sync.Mutex
	held map[string]string
}

// Request is what to fetch.
type Request struct {
	// Plugin is the name for errors.
	Plugin string
	// URL is https://, oci://, or http:// on this machine.
	URL string
	// SHA256 is the digest that the content must have, in hexadecimal; empty for any.
	SHA256 string
	// MaxSize in bytes; 0 for that of the Options.
	MaxSize int64
	// Strict refuses what was fetched before when the server says that it is not there any more or not for us.
	Strict bool
	// Progress gets the bytes that have come, and those in all or -1; nil for no one.
	Progress func(done, total int64)
}

// RequestOf is what to fetch for a plugin whose url leads to its binary.
func RequestOf(plugin config.Plugin) Request {
	return Request{Plugin: plugin.Name, URL: plugin.URL, SHA256: plugin.SHA256, Strict: requires(plugin)}
}

// File is what was fetched.
type File struct {
	// Path belongs to the cache: it is read only, and may be removed a day after its last use.
	Path   string
	SHA256 string
	// Downloaded is set when the content came over the network just now.
	Downloaded bool
	// Stale says why the server could not be asked, and the content is what it had before; nil otherwise.
	Stale error
}

// New creates a Fetcher.
func New(options Options) *Fetcher {
	options.MaxSize = cmp.Or(options.MaxSize, DefaultMaxSize)
	options.MaxKept = cmp.Or(options.MaxKept, DefaultMaxKept)
	options.StallTimeout = cmp.Or(options.StallTimeout, DefaultStallTimeout)
	options.Pause = cmp.Or(options.Pause, DefaultPause)
	if options.Clock == nil {
		options.Clock = clock.System{}
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	return &Fetcher{
		options: options, cache: cache{dir: options.Dir, limit: options.MaxKept}, client: newClient(options.Transport),
		held: map[string]string{},
	}
}

// Fetch gets a file, or finds that the one of the last time is the same still. A file with a known digest that is
// here is taken without asking a server. The error is an [Error], or that of ctx.
func (f *Fetcher) Fetch(ctx context.Context, r Request) (File, error) {
	file, err := f.fetch(ctx, r)
	if err == nil && r.MaxSize == 0 { // a binary
		f.mu.Lock()
		f.held[r.Plugin] = file.SHA256
		f.mu.Unlock()
	}
	if err == nil || ctx.Err() != nil {
		return file, err
	}
	return File{}, newError(r.Plugin, r.URL, err)
}

func (f *Fetcher) fetch(ctx context.Context, r Request) (File, error) {
	if err := f.cache.prepare(); err != nil {
		return File{}, refused(
			"make it writable or choose another --work-dir", "make the directory for fetched plugins: %w", err,
		)
	}
	src, err := f.source(r.URL)
	if err != nil {
		return File{}, err
	}
	if r.SHA256 != "" && f.cache.has(r.SHA256) {
		return File{Path: f.cache.path(r.SHA256), SHA256: r.SHA256}, nil
	}
	known, cached := f.cache.lookup(r.URL)
	if r.SHA256 != "" {
		cached, known = false, entry{} // what is here is something else
	}
	if cached && src.pinned() {
		return File{Path: f.cache.path(known.SHA256), SHA256: known.SHA256}, nil
	}
	tries := attempts
	if cached {
		tries = 1
	}
	for try := 1; ; try++ {
		file, err := f.try(ctx, src, r, known)
		if err == nil || ctx.Err() != nil {
			return file, err
		}
		var why *failure
		if errors.As(err, &why) && why.passing && try < tries {
			pause := f.pause(try)
			f.options.Logger.Warn(
				"plugin download is tried again", "plugin", r.Plugin, "url", Redact(r.URL), "error", err, "pause",
				pause.Round(time.Millisecond),
			)
			if err := f.wait(ctx, pause); err != nil {
				return File{}, err
			}
			continue
		}
		if cached && r.Strict && errors.Is(err, errGone) {
			return File{}, refused(
				why.step, "%w, so what was fetched before is not used either (signature.policy is require)", why.error,
			)
		}
		if cached && !errors.Is(err, errTooLarge) {
			f.options.Logger.Warn(
				"plugin is taken as it was fetched before, because its url cannot be reached", "plugin", r.Plugin,
				"url", Redact(r.URL), "fetched", known.Fetched, "error", err,
			)
			return File{Path: f.cache.path(known.SHA256), SHA256: known.SHA256, Stale: err}, nil
		}
		return File{}, err
	}
}

// pause before the next try.
func (f *Fetcher) pause(try int) time.Duration {
	return clock.Pause(f.options.Pause, maxPause, try)
}

// Kept is what was fetched from the address before; ok is false when it is not there.
func (f *Fetcher) Kept(address string) (file File, ok bool) {
	known, ok := f.cache.lookup(address)
	return File{Path: f.cache.path(known.SHA256), SHA256: known.SHA256}, ok
}

// BinaryDir is where a piped with that work directory keeps the binaries of plugins.
func BinaryDir(workDir string) string { return filepath.Join(workDir, "plugins") }

// CacheDir is the Dir of the Fetcher of a directory for binaries.
func CacheDir(binaryDir string) string { return filepath.Join(binaryDir, "fetched") }

// source is a place with one file.
type source interface {
	// open asks for the file; known is what was fetched before, or empty. Contents of which has is true are here.
	open(ctx context.Context, known entry, has func(digest string) bool) (*answer, error)
	// pinned reports whether the url names its content by a digest.
	pinned() bool
}

// answer is what a source answers.
type answer struct {
	body io.ReadCloser // nil when the content is the known one
	size int64         // -1 when the source does not report it
	// again asks for the rest of the same content, from a byte on; nil when the source cannot.
	again func(ctx context.Context, from int64) (io.ReadCloser, error)
	entry
}

func (f *Fetcher) source(address string) (source, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, refused("correct the url in the piped configuration", "the url cannot be read")
	}
	switch {
	case u.Host == "":
		return nil, refused("correct the url in the piped configuration", "the url names no host")
	case u.Scheme == "https" || u.Scheme == "http" && loopback(u.Host):
		return &httpSource{client: f.client, url: address}, nil
	case u.Scheme == "http":
		return nil, refused(
			"use https://",
			"http:// is allowed to this machine only, since anybody on the way can change what it brings",
		)
	case u.Scheme == "oci":
		return f.ociSource(u)
	default:
		return nil, refused("use https://, oci:// or file://", "the url has an unknown scheme")
	}
}

// try asks once.
func (f *Fetcher) try(ctx context.Context, src source, r Request, known entry) (File, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	patience := f.options.StallTimeout
	if known.SHA256 != "" {
		patience = min(patience, askTimeout)
	}
	stalled := time.AfterFunc(patience, func() { cancel(errStalled) })
	defer stalled.Stop()
	c, err := src.open(ctx, known, f.cache.has)
	if err != nil {
		return File{}, cause(ctx, err)
	}
	c.URL, c.Fetched = Redact(r.URL), time.Now().UTC()
	if c.body == nil {
		if err := f.check(r, c.SHA256); err != nil {
			return File{}, err
		}
		return File{Path: f.cache.path(c.SHA256), SHA256: c.SHA256}, f.remember(r.URL, c.entry)
	}
	defer c.body.Close()
	return f.receive(ctx, r, c, func() { stalled.Reset(f.options.StallTimeout) })
}

// receive downloads what a source answers with. alive is called whenever a part has come.
func (f *Fetcher) receive(ctx context.Context, r Request, c *answer, alive func()) (File, error) {
	begun := time.Now()
	f.options.Logger.Info("plugin is being downloaded", "plugin", r.Plugin, "url", c.URL, "bytes", c.size)
	path, err := os.CreateTemp(f.options.Dir, ".download-*")
	if err != nil {
		return File{}, refused("make room or choose another --work-dir", "%w", err)
	}
	defer os.Remove(path.Name()) // fails after the rename, as it should
	defer path.Close()
	d := download{
		limit: cmp.Or(r.MaxSize, f.options.MaxSize), total: c.size, alive: alive, progress: r.Progress,
	}
	if c.again != nil {
		d.again = func(from int64) (io.ReadCloser, error) {
			if err := f.wait(ctx, f.pause(1)); err != nil {
				return nil, err
			}
			f.options.Logger.Info(
				"plugin download goes on where it broke off", "plugin", r.Plugin, "url", c.URL, "at", from,
			)
			return c.again(ctx, from)
		}
	}
	digest, err := d.copy(path, c.body)
	if err != nil {
		return File{}, cause(ctx, err)
	}
	if c.SHA256 != "" && c.SHA256 != digest {
		return File{}, passing(
			"try again; if it happens again the registry is broken",
			"its content has the SHA-256 %s in place of the announced %s", digest, c.SHA256,
		)
	}
	if err := f.check(r, digest); err != nil {
		return File{}, err
	}
	if err := f.cache.keep(path, digest); err != nil {
		return File{}, refused("make room or choose another --work-dir", "%w", err)
	}
	c.SHA256 = digest
	f.options.Logger.Info(
		"plugin has been downloaded", "plugin", r.Plugin, "sha256", digest, "bytes", d.done, "took",
		time.Since(begun).Round(time.Millisecond),
	)
	return File{Path: f.cache.path(digest), SHA256: digest, Downloaded: true}, f.remember(r.URL, c.entry)
}

func (f *Fetcher) remember(address string, e entry) error {
	if err := f.cache.remember(address, e); err != nil {
		return noRoom(err)
	}
	f.mu.Lock()
	held := map[string]bool{e.SHA256: true}
	for _, digest := range f.held {
		held[digest] = true
	}
	f.mu.Unlock()
	f.cache.prune(held)
	return nil
}

func (f *Fetcher) check(r Request, digest string) error {
	if r.SHA256 != "" && r.SHA256 != digest {
		return mismatch(digest, r.SHA256)
	}
	return nil
}

var (
	errStalled  = errors.New("nothing came any more")
	errTooLarge = errors.New("too large")
	// errGone marks the answers of a server that the content is not there, or not for us.
	errGone = errors.New("gone")
)

// cause is the error of a try; one that was given up has the reason in place of "context canceled".
func cause(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errStalled) {
		return passing("check the network and the server, then start the plugin again", "the server sends nothing")
	}
	return err
}

func mismatch(got, want string) error {
	return refused(
		"if the new content is the wanted one, write its digest to plugins[].sha256 or where the plugin index has "+
			"the old one, otherwise find out who has changed it",
		"the content has the SHA-256 %s, and %s is wanted",
		got,
		want,
	)
}

// wait pauses before the next try.
func (f *Fetcher) wait(ctx context.Context, pause time.Duration) error {
	if err := clock.Wait(ctx, f.options.Clock, pause); err != nil {
		return fmt.Errorf("download of a plugin: %w", err)
	}
	return nil
}
