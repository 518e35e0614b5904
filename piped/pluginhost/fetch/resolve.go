// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"runtime"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch/index"
	"github.com/pipedeck/pipedeck/system/inputfile"
)

// Resolved is a plugin whose url leads to its binary.
type Resolved struct {
	config.Plugin
	// Version that the index gave; empty for a plugin whose url needs no index.
	Version string
	// Stale says why the server of the index could not be asked, and the index is what it had before; nil otherwise.
	Stale error
}

// Resolve gives a plugin that its configuration names by its name in an index (canary, canary@v1.2.0) the url and the
// digest that the index has for this platform, and the place of the signature. Others are returned as they are. The
// index is a path, file://, https://, or http:// on this machine. The error is an [Error], or that of ctx.
func (f *Fetcher) Resolve(ctx context.Context, location string, plugin config.Plugin) (Resolved, error) {
	reference, ok := index.ParseReference(plugin.URL)
	if !ok {
		return Resolved{Plugin: plugin}, nil
	}
	x, err := f.index(ctx, location, requires(plugin))
	if err != nil {
		return Resolved{}, namedFor(plugin, err)
	}
	found, err := x.resolve(plugin, reference)
	if err != nil {
		return Resolved{}, newError(plugin.Name, x.location, err)
	}
	return found, nil
}

// ResolveKept is Resolve without asking a server: ok is false when the index is not on this machine.
func (f *Fetcher) ResolveKept(location string, plugin config.Plugin) (r Resolved, ok bool, err error) {
	reference, ok := index.ParseReference(plugin.URL)
	if !ok {
		return Resolved{Plugin: plugin}, true, nil
	}
	address, err := indexAddress(location)
	if err != nil {
		return Resolved{}, false, newError(plugin.Name, location, err)
	}
	path := address.Path
	if address.Scheme != "file" {
		known, ok := f.cache.lookup(address.String())
		if !ok {
			return Resolved{}, false, nil
		}
		path = f.cache.path(known.SHA256)
	}
	x, err := readIndex(path)
	if err != nil {
		return Resolved{}, false, newError(plugin.Name, address.String(), err)
	}
	found, err := (&Index{Index: x, base: address, location: address.String()}).resolve(plugin, reference)
	if err != nil {
		return Resolved{}, false, newError(plugin.Name, address.String(), err)
	}
	return found, true, nil
}

// Index is a plugin index, and where it comes from.
type Index struct {
	*index.Index
	// Stale is as in [File].
	Stale    error
	base     *url.URL
	location string
}

// Index reads an index: see Resolve. The error is an [Error], or that of ctx.
func (f *Fetcher) Index(ctx context.Context, location string) (*Index, error) {
	return f.index(ctx, location, false)
}

func (f *Fetcher) index(ctx context.Context, location string, strict bool) (*Index, error) {
	address, err := indexAddress(location)
	if err != nil {
		return nil, newError("", location, err)
	}
	x := &Index{base: address, location: address.String()}
	path := address.Path
	if address.Scheme != "file" {
		file, err := f.Fetch(ctx, Request{URL: x.location, MaxSize: index.MaxSize, Strict: strict})
		if err != nil {
			return nil, err
		}
		path, x.Stale = file.Path, file.Stale
	}
	if x.Index, err = readIndex(path); err != nil {
		return nil, newError("", x.location, err)
	}
	return x, nil
}

func indexAddress(location string) (*url.URL, error) {
	if location == "" {
		return nil, refused("name one in the piped configuration: spec.pluginIndex", "there is no plugin index")
	}
	u, err := url.Parse(location)
	if err == nil && u.Scheme == "" {
		var path string
		if path, err = filepath.Abs(location); err == nil {
			return &url.URL{Scheme: "file", Path: path}, nil
		}
	}
	if err != nil || u.Scheme != "file" && u.Scheme != "https" && u.Scheme != "http" {
		return nil, refused("give a path, file:// or https://", "the address of the plugin index cannot be one")
	}
	return u, nil
}

func readIndex(path string) (*index.Index, error) {
	file, err := inputfile.Open(path)
	if err != nil {
		return nil, refused("correct the path of the plugin index", "%w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, index.MaxSize+1))
	if err != nil {
		return nil, refused("make it readable", "%w", err)
	}
	x, err := index.Parse(data)
	return x, ofIndex(err)
}

func (x *Index) resolve(plugin config.Plugin, reference index.Reference) (Resolved, error) {
	version, binary, err := x.Resolve(reference, runtime.GOOS+"/"+runtime.GOARCH)
	if err != nil {
		return Resolved{}, ofIndex(err)
	}
	if plugin.SHA256 != "" && plugin.SHA256 != binary.SHA256 {
		return Resolved{}, refused(
			"if the new one is wanted, write its digest to plugins[].sha256 or leave that away, otherwise name the "+
				"version of the old one",
			"the index has %s@%s with the SHA-256 %s, and the piped configuration wants %s",
			reference.Name,
			version,
			binary.SHA256,
			plugin.SHA256,
		)
	}
	plugin.SHA256 = binary.SHA256
	if plugin.URL, err = x.absolute(binary.URL); err != nil {
		return Resolved{}, err
	}
	if plugin.Signature != nil && plugin.Signature.URL == "" && binary.Signature != "" {
		wanted := *plugin.Signature
		if wanted.URL, err = x.absolute(binary.Signature); err != nil {
			return Resolved{}, err
		}
		plugin.Signature = &wanted
	}
	return Resolved{Plugin: plugin, Version: version, Stale: x.Stale}, nil
}

// absolute is a URL of the index. One of another machine cannot name files of this one, nor what listens on it.
func (x *Index) absolute(address string) (string, error) {
	u, err := x.base.Parse(address)
	if err != nil || x.base.Scheme != "file" && (u.Scheme == "file" || !loopback(x.base.Host) && loopback(u.Host)) {
		return "", refused(
			"correct the index, or report it to its author", "the index leads to %s, which it cannot", Redact(address),
		)
	}
	return u.String(), nil
}

// ofIndex makes an error of package index one of this package; nil stays nil.
func ofIndex(err error) error {
	var failed *index.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failed):
		return refused(failed.Step, "%w", failed.Err)
	}
	return fmt.Errorf("read the plugin index: %w", err)
}

// namedFor says for which plugin an index was wanted.
func namedFor(plugin config.Plugin, err error) error {
	var failed *Error
	if errors.As(err, &failed) {
		named := *failed
		named.Plugin = plugin.Name
		if named.URL != "" {
			named.Err = fmt.Errorf("the plugin index: %w", failed.Err)
		}
		return &named
	}
	return err
}
