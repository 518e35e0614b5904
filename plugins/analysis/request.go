// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/analysis/config"
	"github.com/pipedeck/pipedeck/plugins/analysis/provider"
)

// newRequest returns the analyzer of a request whose template is resolved.
func newRequest(name string, h *config.StageHTTP, web *provider.Web, variables config.Variables) (*analyzer, error) {
	address, err := variables.Fill(h.URL)
	if err != nil {
		return nil, err
	}
	if err := config.CheckURL(address); err != nil {
		return nil, err
	}
	wanted := h.HTTP
	return &analyzer{
		name: name, about: cmp.Or(strings.ToUpper(h.Method), "GET") + " " + provider.Place(address),
		interval: h.Interval.Std(), failureLimit: h.FailureLimit, skipOnNoData: h.SkipOnNoData,
		evaluate: func(ctx context.Context, _ moment) outcome { return request(ctx, web, &wanted, address) },
	}, nil
}

func request(ctx context.Context, web *provider.Web, wanted *config.HTTP, address string) outcome {
	ctx, cancel := context.WithTimeout(ctx, config.QueryTimeout(wanted.Timeout.Std()))
	defer cancel()
	answer, err := web.Request(ctx, wanted, address)
	switch {
	case errors.Is(err, provider.ErrNotSent):
		return outcome{verdict: failed, text: err.Error()}
	case err != nil:
		return outcome{verdict: noData, text: err.Error()}
	case !answer.Good:
		return outcome{verdict: bad, text: answer.Reason}
	}
	text := fmt.Sprintf("the status is %d", answer.Code)
	if wanted.ExpectedResponse != "" {
		text += " and the answer is as expected"
	}
	return outcome{verdict: good, text: text}
}
