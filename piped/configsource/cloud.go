// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configsource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// maxAnswer bounds an answer of a cloud in bytes; their secrets hold 64 KiB at most.
	maxAnswer = 1 << 20
	// requestTimeout bounds one request.
	requestTimeout = 10 * time.Second
	// tries and firstPause bound how often a cloud is asked that does not answer: in a pod that is just being
	// started, the server of its credentials may come up later than piped.
	tries        = 5
	firstPause   = 500 * time.Millisecond
	longestPause = 4 * time.Second
)

// cloud asks the clouds.
type cloud struct {
	client *http.Client
	getenv func(string) string
	clock  clock.Timer
}

func newCloud() *cloud {
	return &cloud{client: &http.Client{Timeout: requestTimeout}, getenv: os.Getenv, clock: clock.System{}}
}

// refusedError is an answer other than success. Body is what the cloud says about it.
type refusedError struct {
	code int
	body []byte
}

func (e *refusedError) Error() string {
	return fmt.Sprintf("HTTP %d %s", e.code, http.StatusText(e.code))
}

// passing reports whether the same request may succeed later.
func (e *refusedError) passing() bool {
	return e.code == http.StatusTooManyRequests || e.code >= http.StatusInternalServerError
}

// credentialsError says that there is nothing to sign a request with.
type credentialsError struct {
	error
	// final: another try would bring nothing else.
	final bool
}

func (e *credentialsError) Unwrap() error { return e.error }

func final(err error) bool {
	var refused *refusedError
	if errors.As(err, &refused) {
		return !refused.passing()
	}
	var credentials *credentialsError
	return errors.As(err, &credentials) && credentials.final
}

type doer interface {
	Do(*http.Request) (*http.Response, error)
}

// do makes a request until there is an answer, a few times. A request is made again for each try.
func (c *cloud) do(ctx context.Context, client doer, request func() (*http.Request, error)) ([]byte, error) {
	backoff := clock.NewBackoff(firstPause, longestPause)
	for try := 1; ; try++ {
		body, err := once(ctx, client, request)
		if err == nil || final(err) || try == tries || ctx.Err() != nil {
			return body, err
		}
		if backoff.Wait(ctx, c.clock) != nil {
			return nil, err // says more than the end of ctx
		}
	}
}

func once(ctx context.Context, client doer, request func() (*http.Request, error)) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	r, err := request()
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(r.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, err
	case len(body) > maxAnswer:
		return nil, fmt.Errorf("the answer is longer than %d bytes; is this really the cloud's address?", maxAnswer)
	case answer.StatusCode != http.StatusOK:
		return nil, &refusedError{answer.StatusCode, body}
	}
	return body, nil
}
