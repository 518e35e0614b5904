// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// Sources are where charts may come from.
type Sources struct {
	Repositories []Repository
	Registries   []Registry
	// AllowedAddresses may be asked although they are not of the public internet, as the repositories and registries
	// may: hosts, host:port, IP addresses and networks such as 10.0.0.0/8.
	AllowedAddresses []string
	// Offline fetches nothing: charts that are not in the checkout or in the cache cannot be reached.
	Offline bool
	// Children render the templates; nil renders them in this process, without limits. They stay the caller's.
	Children *Children
	// CacheDir keeps charts of exact versions. Empty: pipedeck/charts in the user's directory for caches.
	CacheDir string
	// CacheBytes bounds it. 0: [DefaultCacheBytes].
	CacheBytes int64
}

// Repository is an HTTP chart repository.
type Repository struct {
	Name, Address      string
	Username, Password string
	// Insecure skips the check of the certificate.
	Insecure bool
}

// Registry is an OCI registry, "registry.example:5000/team" say, and who logs in there.
type Registry struct {
	Address            string
	Username, Password string
}

// loadRemote loads a chart from a repository or a registry.
func (c *Charts) loadRemote(ctx context.Context, g *guard, repository, name, version string) (*loaded, error) {
	exact := isExact(version)
	from, err := c.source(g, repository)
	if err != nil {
		return nil, err
	}
	where := strings.TrimSuffix(shownURL(repository), "/") + "/" + name
	if name == "" || strings.ContainsAny(name, "?#\\ ") || strings.Contains(name, "..") {
		return nil, fmt.Errorf("%q is not the name of a chart: set input.helmChart.name", name)
	}
	key := strings.TrimSuffix(from.identity()+"\n"+name+"\n"+version+"\n"+g.scope, "\n")
	if exact {
		if data, ok := c.store.get(key); ok {
			if chrt, err := loadArchive(data); err == nil {
				return &loaded{chart: chrt, fixed: true}, nil
			}
		}
	}
	data, err := from.fetch(ctx, name, version)
	if err != nil {
		return nil, fmt.Errorf("get chart %s %s: %w", where, version, err)
	}
	chrt, err := loadArchive(data)
	if err != nil {
		return nil, fmt.Errorf("chart %s %s: %w", where, version, err)
	}
	if exact {
		c.store.put(key, data)
	}
	return &loaded{chart: chrt, fixed: exact}, nil
}

// source is a place with charts.
type source interface {
	// fetch gets the archive of a chart; version may be a range.
	fetch(ctx context.Context, name, version string) ([]byte, error)
	// identity distinguishes this place, and who asks there, from others.
	identity() string
}

// source finds a configured repository by its name or URL; another URL is asked without a login.
func (c *Charts) source(g *guard, repository string) (source, error) {
	if strings.HasPrefix(repository, "oci://") {
		return newRegistry(repository, c.sources.Registries, g)
	}
	name := strings.TrimPrefix(strings.TrimPrefix(repository, "@"), "alias:")
	var known []string
	for _, r := range c.sources.Repositories {
		if r.Name == name || sameURL(r.Address, repository) {
			return newRepository(r, g), nil
		}
		known = append(known, r.Name)
	}
	switch scheme, _, is := strings.Cut(repository, "://"); {
	case !is && repository == "":
		return nil, errors.New("input.helmChart: give path, or repository and name")
	case !is && len(known) == 0:
		return nil, fmt.Errorf("chart repository %q is not known: add it to chartRepositories in the plugin's "+
			"config in the piped configuration", repository)
	case !is:
		return nil, fmt.Errorf("chart repository %q is not known: the plugin's chartRepositories in the piped "+
			"configuration have %s", repository, strings.Join(known, ", "))
	case scheme == "https" || scheme == "http":
		return anonymous(repository, g), nil
	default:
		return nil, fmt.Errorf("%s: charts come from https:// and oci:// only", shownURL(repository))
	}
}

func anonymous(address string, g *guard) *repository {
	return newRepository(Repository{Address: address}, g)
}

func sameURL(a, b string) bool {
	return a != "" && strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/")
}

// isExact distinguishes a version from a range of versions.
func isExact(version string) bool {
	_, err := semver.StrictNewVersion(strings.TrimPrefix(version, "v"))
	return err == nil
}

// pick returns the newest of the versions that fit; an exact version has to be there as it is.
func pick(versions []string, wanted string) (string, error) {
	if isExact(wanted) {
		want := semver.MustParse(wanted)
		for _, v := range versions {
			if got, err := semver.NewVersion(v); err == nil && got.Equal(want) && got.Metadata() == want.Metadata() {
				return v, nil
			}
		}
		return "", fmt.Errorf("there is no version %s of it", wanted)
	}
	text := wanted
	if text == "" {
		text = "*"
	}
	constraint, err := semver.NewConstraint(text)
	if err != nil {
		return "", fmt.Errorf("%q is neither a version nor a range of versions", wanted)
	}
	var best *semver.Version
	for _, v := range versions {
		got, err := semver.NewVersion(v)
		if err == nil && constraint.Check(got) && (best == nil || got.GreaterThan(best)) {
			best = got
		}
	}
	if best == nil {
		return "", fmt.Errorf("no version of it fits %q", wanted)
	}
	return best.Original(), nil
}

// loopback reports whether a host, with or without a port, is this machine.
func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// shownURL is an address without what may be a secret.
func shownURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(an address that cannot be read)"
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, Opaque: u.Opaque}
	return shown.String()
}
