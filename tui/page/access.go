// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// maxToken is what is read of a token, in bytes, and tokenTime how long its sender may take.
	maxToken  = 256
	tokenTime = 10 * time.Second
	// maxSessions bounds the browsers that are remembered; the one that came first goes first.
	maxSessions = 1000
	// wrongPause is the time until a wrong token is refused, maxWrong how many are kept waiting at once.
	wrongPause = 500 * time.Millisecond
	maxWrong   = 8
)

// access knows who may watch.
type access struct {
	// token is the sum of the right one.
	token [sha256.Size]byte
	// cookie is the name of the cookie: browsers do not distinguish the ports of a host.
	cookie string
	secure bool
	// names are the host names under which the server is asked, in lower case.
	names []string
	// anyAddress: every IP address may be asked, not only those of this machine for itself.
	anyAddress bool
	clock      clock.Clock
	// wrong holds a place for each wrong token that waits for its answer.
	wrong chan struct{}

	mu sync.Mutex
	// sessions are the sums of the values of cookies, the oldest first.
	sessions [][sha256.Size]byte
}

// policy is that of the page: only what this server sends, no inline scripts and styles.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// protect sets the headers that every answer has.
func protect(header http.Header) {
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-store")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
}

// knows reports whether a request is for this server: a page of another site can give its own name any address, but it
// cannot change the name that the browser sends.
func (a *access) knows(host string) bool {
	name := host
	if only, _, err := net.SplitHostPort(host); err == nil {
		name = only
	}
	name = strings.Trim(strings.ToLower(name), "[]")
	if address := net.ParseIP(name); address != nil {
		return a.anyAddress || address.IsLoopback()
	}
	return slices.Contains(a.names, name)
}

// foreign reports whether a browser says that a page of another origin has sent the request.
func foreign(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return true
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	from, err := url.Parse(origin)
	return err != nil || !strings.EqualFold(from.Host, r.Host)
}

// admitted reports whether a request has the cookie of a session.
func (a *access) admitted(r *http.Request) bool {
	for _, cookie := range r.CookiesNamed(a.cookie) {
		sum := sha256.Sum256([]byte(cookie.Value))
		if a.remembers(sum) {
			return true
		}
	}
	return false
}

func (a *access) remembers(sum [sha256.Size]byte) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	found := 0
	for i := range a.sessions {
		found |= subtle.ConstantTimeCompare(a.sessions[i][:], sum[:])
	}
	return found == 1
}

// open answers a request that brings a token.
func (a *access) open(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(tokenTime)) // else it takes as long as it takes
	token, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxToken))
	if err != nil {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	if sum := sha256.Sum256(token); subtle.ConstantTimeCompare(sum[:], a.token[:]) != 1 {
		w.WriteHeader(a.refuse(r.Context()))
		return
	}
	http.SetCookie(w, &http.Cookie{Name: a.cookie, Value: a.begin(), Path: "/", HttpOnly: true, Secure: a.secure,
		SameSite: http.SameSiteStrictMode})
	w.WriteHeader(http.StatusNoContent)
}

// refuse is the answer to a wrong token, which comes late: guesses cost time.
func (a *access) refuse(ctx context.Context) int {
	select {
	case a.wrong <- struct{}{}:
	default:
		return http.StatusTooManyRequests
	}
	defer func() { <-a.wrong }()
	select {
	case <-a.clock.After(wrongPause):
	case <-ctx.Done():
	}
	return http.StatusForbidden
}

// begin returns the value of the cookie of a new session.
func (a *access) begin() string {
	value := rand.Text()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.sessions) == maxSessions {
		a.sessions = slices.Delete(a.sessions, 0, 1)
	}
	a.sessions = append(a.sessions, sha256.Sum256([]byte(value)))
	return value
}
