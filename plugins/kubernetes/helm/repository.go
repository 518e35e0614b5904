// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"oras.land/oras-go/v2/registry/remote/retry"
)

// Bounds of downloads, in bytes. Archives of charts are mostly below 1 MiB.
const (
	maxArchive = 32 << 20
	maxIndex   = 128 << 20
	maxValues  = 4 << 20
)

const (
	connectTimeout = 10 * time.Second
	// downloadTimeout ends a download from a server that hangs.
	downloadTimeout = 2 * time.Minute
	maxRedirects    = 10
	userAgent       = "piped (pipedeck)"
)

// repository is an HTTP chart repository.
type repository struct {
	Repository
	client *http.Client
}

var _ source = (*repository)(nil)

func newRepository(r Repository, g *guard) *repository {
	return &repository{Repository: r, client: newClient(g.transport(r.Insecure))}
}

// retries is for servers that are busy, and connections that break before there is an answer.
var retries retry.Policy = &retry.GenericPolicy{
	Retryable: retry.DefaultPredicate, Backoff: retry.DefaultBackoff, MinWait: 200 * time.Millisecond,
	MaxWait: 2 * time.Second, MaxRetry: 3,
}

// newClient creates a client that takes a login to its own server only, and never goes from https:// to http://.
func newClient(transport http.RoundTripper) *http.Client {
	patient := &retry.Transport{Base: transport, Policy: func() retry.Policy { return retries }}
	return &http.Client{Transport: patient, Timeout: downloadTimeout,
		CheckRedirect: func(next *http.Request, before []*http.Request) error {
			next.Header.Del("Referer") // the query of a URL may hold a secret
			first := before[0].URL
			if next.URL.Host != first.Host {
				next.Header.Del("Authorization")
			}
			switch {
			case len(before) >= maxRedirects:
				return fmt.Errorf("the server redirects more than %d times", maxRedirects)
			case next.URL.Scheme == "http" && first.Scheme != "http":
				return errors.New("the server redirects to http://, which is not protected")
			}
			return nil
		}}
}

func (r *repository) identity() string {
	login := sha256.Sum256([]byte(r.Username + "\n" + r.Password))
	return strings.TrimSuffix(r.Address, "/") + "\n" + hex.EncodeToString(login[:])
}

// fetch looks the chart up in the index and gets it.
func (r *repository) fetch(ctx context.Context, name, version string) ([]byte, error) {
	base, err := url.Parse(strings.TrimSuffix(r.Address, "/") + "/")
	if err != nil {
		return nil, errors.New("the address of the repository is not a URL")
	}
	data, err := r.get(ctx, base.JoinPath("index.yaml").String(), maxIndex)
	if err != nil {
		return nil, fmt.Errorf("read its index: %w", err)
	}
	entries, err := chartEntries(data, name)
	if err != nil {
		return nil, fmt.Errorf("read its index: %w", err)
	}
	if len(entries) == 0 {
		return nil, errors.New("the repository has no chart of that name")
	}
	entry, err := choose(entries, version)
	if err != nil {
		return nil, err
	}
	if len(entry.URLs) == 0 {
		return nil, fmt.Errorf("the index names no file of version %s", entry.Version)
	}
	at, err := base.Parse(entry.URLs[0])
	if err != nil {
		return nil, fmt.Errorf("the index names a file of version %s that is no URL", entry.Version)
	}
	archive, err := r.get(ctx, at.String(), maxArchive)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(archive); entry.Digest != "" &&
		!strings.EqualFold(strings.TrimPrefix(entry.Digest, "sha256:"), hex.EncodeToString(sum[:])) {
		return nil, errors.New("its content is not what the index of the repository says (digest): was it changed " +
			"on the way, or is the index old?")
	}
	return archive, nil
}

// get reads a URL of at most limit bytes. The login is sent to the repository's own server only.
func (r *repository) get(ctx context.Context, address string, limit int64) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("the address is not a URL")
	}
	if own, err := url.Parse(r.Address); err == nil && own.Scheme == request.URL.Scheme &&
		own.Host == request.URL.Host && r.Username+r.Password != "" {
		request.SetBasicAuth(r.Username, r.Password)
	}
	switch scheme := request.URL.Scheme; {
	case scheme == "https", scheme == "http" && (r.Name != "" || loopback(request.URL.Host)):
	case scheme == "http":
		return nil, errors.New("http:// is not protected: use https://, or have it added to chartRepositories of " +
			"the plugin")
	default:
		return nil, fmt.Errorf("%s:// is not read", scheme)
	}
	request.Header.Set("User-Agent", userAgent)
	response, err := r.client.Do(request)
	if err != nil {
		return nil, requestError(err)
	}
	defer response.Body.Close()
	switch code := response.StatusCode; {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return nil, fmt.Errorf("%s gives no access (%d): set username and password of the repository in the "+
			"plugin's chartRepositories", request.URL.Host, code)
	case code != http.StatusOK:
		return nil, fmt.Errorf("%s answers %d %s", shownURL(address), code, http.StatusText(code))
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	if err != nil {
		return nil, requestError(err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s is larger than %d MiB", shownURL(address), limit>>20)
	}
	return data, nil
}

// requestError is why there was no answer, without the URL, which may hold a secret.
func requestError(err error) error {
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err
	}
	if refused, is := errors.AsType[*addressError](err); is {
		return refused
	}
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &certificate) {
		return fmt.Errorf("the server is not who it should be (%w): have this machine trust the authority of its "+
			"certificate, or set insecure: true for the repository", err)
	}
	return &UnreachableError{fmt.Errorf("the server cannot be asked: %w", err)}
}

// UnreachableError says that a server with charts did not answer.
type UnreachableError struct{ Err error }

func (e *UnreachableError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the network.
func (e *UnreachableError) Unwrap() error { return e.Err }

// Cause reports what the environment lacks. The place is that of the chart, which the caller knows.
func (e *UnreachableError) Cause() (kind, place string) { return "UNREACHABLE", "" }
