// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
)

// googleScopes are what the plugin may do: read metrics and logs.
var googleScopes = []string{
	"https://www.googleapis.com/auth/monitoring.read", "https://www.googleapis.com/auth/logging.read",
}

// access is a token, and the project of the credentials that it was given for; empty when they name none.
type access struct {
	token   *oauth2.Token
	project string
}

// googleCredentials get tokens and keep the last one while it is valid.
type googleCredentials struct {
	file      string
	transport http.RoundTripper
	// turn holds the one who asks for a token: others wait for it, as long as their queries may last.
	turn chan struct{}
	// kept belongs to who has the turn, as does key, the content of the file that kept is for.
	kept access
	key  string
}

func newGoogleCredentials(file string, transport http.RoundTripper) *googleCredentials {
	return &googleCredentials{file: file, transport: transport, turn: make(chan struct{}, 1)}
}

// get returns a valid token. The file is read each time, because keys are renewed.
func (g *googleCredentials) get(ctx context.Context) (access, error) {
	select {
	case g.turn <- struct{}{}:
		defer func() { <-g.turn }()
	case <-ctx.Done():
		return access{}, plain(ctx, ctx.Err())
	}
	var key string
	if g.file != "" {
		var err error
		if key, err = secret("config.serviceAccountFile", g.file); err != nil {
			return access{}, err
		}
	}
	if g.kept.token.Valid() && key == g.key {
		return g.kept, nil
	}
	client := &http.Client{Transport: bound{ctx, g.transport}}
	ctx = context.WithValue(ctx, oauth2.HTTPClient, client)
	credentials, err := g.find(ctx, key)
	if err != nil {
		return access{}, err
	}
	token, err := credentials.TokenSource.Token()
	if err != nil {
		return access{}, refused(ctx, err)
	}
	g.kept, g.key = access{token: token, project: credentials.ProjectID}, key
	return g.kept, nil
}

func (g *googleCredentials) find(ctx context.Context, key string) (*google.Credentials, error) {
	if g.file == "" {
		credentials, err := google.FindDefaultCredentials(ctx, googleScopes...)
		if err != nil {
			// The error may repeat the content of a file.
			return nil, errors.New("no default credentials: set config.serviceAccountFile, or " +
				"GOOGLE_APPLICATION_CREDENTIALS, or run piped where there is a service account")
		}
		return credentials, nil
	}
	credentials, err := google.CredentialsFromJSONWithType(ctx, []byte(key), google.ServiceAccount, googleScopes...)
	if err != nil {
		return nil, fmt.Errorf("config.serviceAccountFile: %s is not the key file of a service account", g.file)
	}
	return credentials, nil
}

// refused leaves out what the token server has said: it may repeat what it was asked with.
func refused(ctx context.Context, err error) error {
	if retrieve := (*oauth2.RetrieveError)(nil); errors.As(err, &retrieve) && retrieve.Response != nil {
		return fmt.Errorf("the token server answered with the status %s", retrieve.Response.Status)
	}
	return plain(ctx, errors.New(excerpt([]byte(err.Error()))))
}

// bound sends each request within a context: the packages for tokens know none.
type bound struct {
	ctx  context.Context
	next http.RoundTripper
}

func (b bound) RoundTrip(req *http.Request) (*http.Response, error) {
	return b.next.RoundTrip(req.WithContext(b.ctx))
}
