// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"time"
)

const (
	// logPage is the most entries that Logging gives at once.
	logPage = 1000
	// maxLogPages bounds the answers to one query: Logging may give pages without entries while it searches. It allows
	// 60 requests a minute and project.
	maxLogPages = 30
)

// entriesRequest is the body of Logging's entries.list.
type entriesRequest struct {
	ResourceNames []string `json:"resourceNames"`
	Filter        string   `json:"filter"`
	OrderBy       string   `json:"orderBy"`
	PageSize      int      `json:"pageSize"`
	PageToken     string   `json:"pageToken,omitempty"`
}

// Count counts the entries of a filter of Logging.
func (s *stackdriver) Count(ctx context.Context, query string, at Range, enough int) (Entries, error) {
	access, err := s.access(ctx)
	if err != nil {
		return Entries{}, err
	}
	address := s.logging.JoinPath("v2/entries:list")
	// Only what is counted is sent back: entries can be long, and secret.
	address.RawQuery = url.Values{"alt": {"json"}, "fields": {"entries(timestamp),nextPageToken"}}.Encode()
	request := entriesRequest{
		ResourceNames: []string{"projects/" + access.project}, Filter: within(query, at), OrderBy: "timestamp desc",
		PageSize: logPage,
	}
	var found Entries
	for range maxLogPages {
		answer, err := s.post(ctx, access, address, request)
		if err != nil {
			return Entries{}, err
		}
		var page struct {
			Entries []struct {
				Timestamp time.Time `json:"timestamp"`
			} `json:"entries"`
			NextPageToken string `json:"nextPageToken"`
		}
		if err := json.Unmarshal(answer.body, &page); err != nil {
			return Entries{}, fmt.Errorf("%s did not answer as Google Cloud Logging does: %s", place(address),
				answer.shown())
		}
		if found.Count == 0 && len(page.Entries) > 0 {
			found.Newest = page.Entries[0].Timestamp
		}
		found.Count += len(page.Entries)
		found.More = page.NextPageToken != ""
		if !found.More || found.Count >= enough {
			return found, nil
		}
		request.PageToken = page.NextPageToken
	}
	return Entries{}, fmt.Errorf("%s did not give all entries in %d answers: make the query narrower", place(address),
		maxLogPages)
}

// within is a filter for entries of a time. The parentheses are on separate lines because a query may end with a
// comment.
func within(query string, at Range) string {
	return fmt.Sprintf("(\n%s\n)\nAND timestamp >= %q AND timestamp < %q", query,
		at.From.UTC().Format(time.RFC3339Nano), at.To.UTC().Format(time.RFC3339Nano))
}
