// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// clients ask an address at the same time: the first one keeps its connection, as browsers do, the others make a
	// new one for each request, as curl does.
	clients = 3
	// pace is the time between the requests of one client.
	pace = 5 * time.Millisecond
)

// open returns the address that `pipedeck open` prints.
func (e *environment) open(app string) string {
	e.t.Helper()
	r := e.pipedeck("open", app)
	require.Zero(e.t, r.Code, r.Stderr)
	return strings.TrimSpace(r.Stdout)
}

// get returns what answers at an address with 200.
func (e *environment) get(url string) string {
	e.t.Helper()
	body, err := fetch(newClient(false), url)
	require.NoError(e.t, err)
	return body
}

func newClient(keepsConnection bool) *http.Client {
	return &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: !keepsConnection}}
}

func fetch(client *http.Client, url string) (string, error) {
	response, err := client.Get(url)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, body)
	}
	return string(body), err
}

// ask returns an answer, or why there is none.
func ask(client *http.Client, url string) string {
	body, err := fetch(client, url)
	if err != nil {
		return err.Error()
	}
	return body
}

// crowd are clients that ask an address again and again.
type crowd struct {
	cancel  context.CancelFunc
	running sync.WaitGroup
	answers [][]string
	asked   atomic.Int64
}

func newCrowd(t *testing.T, url string) *crowd { return newCrowdAt(t, url, pace) }

// newCrowdAt are clients that ask at another pace.
func newCrowdAt(t *testing.T, url string, pace time.Duration) *crowd {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c := &crowd{cancel: cancel, answers: make([][]string, clients)}
	for i := range c.answers {
		c.running.Go(func() {
			client := newClient(i == 0)
			defer client.CloseIdleConnections()
			for ticker := time.NewTicker(pace); ; {
				select {
				case <-ctx.Done():
					ticker.Stop()
					return
				case <-ticker.C:
					c.answers[i] = append(c.answers[i], ask(client, url))
					c.asked.Add(1)
				}
			}
		})
	}
	t.Cleanup(func() {
		answers := c.leave()
		if t.Failed() {
			t.Logf("answers at %s: %v", url, tallied(answers))
		}
	})
	return c
}

// asks waits until the clients have got n answers together.
func (c *crowd) asks(t *testing.T, n int64) {
	t.Helper()
	waitUntil(t, "the clients have asked often enough", func() bool { return c.asked.Load() >= n })
}

// leave ends the requests, the last ones included, and returns the answers of each client in their order.
func (c *crowd) leave() [][]string {
	c.cancel()
	c.running.Wait()
	return c.answers
}

// tallied counts the answers of all clients by the version that the page names.
func tallied(answers [][]string) map[string]int {
	counts := map[string]int{}
	for _, ofOne := range answers {
		for _, page := range ofOne {
			counts[version(page)]++
		}
	}
	return counts
}

// version is the one that the sample's page names; what is no such page comes back as it is.
func version(page string) string {
	_, rest, found := strings.Cut(page, "(version ")
	v, _, ends := strings.Cut(rest, ",")
	if !found || !ends {
		return page
	}
	return v
}

// versions asks n times and counts the answers by the version that the page names.
func versions(url string, n int) map[string]int {
	client, counts := newClient(false), map[string]int{}
	for range n {
		counts[version(ask(client, url))]++
	}
	return counts
}
