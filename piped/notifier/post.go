// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package notifier

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxAnswer bounds how much of an answer is read, in bytes.
const maxAnswer = 64 << 10

// checkURL refuses what cannot be posted to. Its errors do not repeat the URL, which may be a secret.
func checkURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("the URL is not of the form https://host/path")
	}
	return nil
}

// post sends the body and returns the answer of a receiver that has taken it. Errors name neither the path
// of the URL nor a header.
func post(ctx context.Context, client *http.Client, target string, header http.Header, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the URL cannot be used")
	}
	request.Header = header
	response, err := client.Do(request)
	if err != nil {
		var wrapped *url.Error // repeats the URL
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return nil, &passingError{err: fmt.Errorf("post to %s: %w", request.URL.Host, err)}
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	switch code := response.StatusCode; {
	case code >= 200 && code < 300:
		return answer, nil // what it says is of no use when it could not be read
	case code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code >= 500:
		return nil, &passingError{
			err:   fmt.Errorf("%s answered %s", request.URL.Host, response.Status),
			after: retryAfter(response.Header.Get("Retry-After"), time.Now()),
		}
	case code >= 300 && code < 400:
		return nil, fmt.Errorf(
			"%s answered %s; redirections are not followed, give the final URL", request.URL.Host, response.Status,
		)
	case err != nil:
		return nil, fmt.Errorf("%s answered %s", request.URL.Host, response.Status)
	default:
		return answer, fmt.Errorf("%s answered %s", request.URL.Host, response.Status)
	}
}

// retryAfter reads seconds or a date; 0 when there is neither.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
		return time.Duration(min(max(seconds, 0), 3600)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}
