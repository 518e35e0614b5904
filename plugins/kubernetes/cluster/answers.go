// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"net/http"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

type answersKey struct{}

// WithAnswers makes report get how the server has answered each write under the returned context: with its status, or 0
// when no answer came, so that it is not known whether anything was written. What is only tried, with a dry run, is
// left out.
func WithAnswers(ctx context.Context, report func(status int)) context.Context {
	return context.WithValue(ctx, answersKey{}, report)
}

// answers is the transport that reports them: those of each attempt, before anything sends a request again.
type answers struct{ next http.RoundTripper }

var _ utilnet.RoundTripperWrapper = (*answers)(nil)

// WrappedRoundTripper implements utilnet.RoundTripperWrapper.
func (t *answers) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip implements http.RoundTripper.
func (t *answers) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(req)
	report, wanted := req.Context().Value(answersKey{}).(func(int))
	if !wanted || req.Method == http.MethodGet || req.URL.Query().Has("dryRun") {
		return resp, err
	}
	if err != nil {
		report(0)
	} else {
		report(resp.StatusCode)
	}
	return resp, err
}
