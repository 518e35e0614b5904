// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configsource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
)

const (
	gcpScope = "https://www.googleapis.com/auth/cloud-platform"
	// gcpEndpoint is what gcloud reads, too, when Secret Manager is reached at another address.
	gcpEndpoint = "CLOUDSDK_API_ENDPOINT_OVERRIDES_SECRETMANAGER"
)

var gcpName = regexp.MustCompile(
	`^projects/[^/]+/(?:locations/([a-z0-9-]+)/)?secrets/[A-Za-z0-9_-]+(/versions/[A-Za-z0-9_-]+)?$`,
)

// gcpSecret is the content of a version of a secret, by default the latest.
func (c *cloud) gcpSecret(ctx context.Context, name string) ([]byte, error) {
	parts := gcpName.FindStringSubmatch(name)
	if parts == nil {
		return nil, errors.New("this is no name of a secret; write projects/PROJECT/secrets/SECRET/versions/latest")
	}
	if parts[2] == "" {
		name += "/versions/latest"
	}
	ctx = context.WithValue(ctx, oauth2.HTTPClient, c.client)
	credentials, err := google.FindDefaultCredentials(ctx, gcpScope)
	if err != nil {
		return nil, fmt.Errorf(
			"find credentials for Google Cloud: %w; set GOOGLE_APPLICATION_CREDENTIALS to the key file of a service "+
				"account, or run piped where there is a service account",
			err,
		)
	}
	address, err := c.gcpAddress(credentials, parts[1])
	if err != nil {
		return nil, err
	}
	body, err := c.do(ctx, c.client, func() (*http.Request, error) {
		token, err := credentials.TokenSource.Token()
		if err != nil {
			return nil, gcpTokenError(err)
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/v1/"+name+":access", nil)
		if err == nil {
			token.SetAuthHeader(r)
		}
		return r, err
	})
	if err != nil {
		return nil, gcpRefused(err)
	}
	return gcpPayload(body)
}

// gcpTokenError leaves out what the token server has said: it may repeat what it was asked with.
func gcpTokenError(err error) error {
	var retrieve *oauth2.RetrieveError
	if errors.As(err, &retrieve) && retrieve.Response != nil {
		answer := &refusedError{code: retrieve.Response.StatusCode}
		return &credentialsError{
			fmt.Errorf("get a token from Google for these credentials: %w", answer), !answer.passing(),
		}
	}
	return &credentialsError{fmt.Errorf("get a token from Google: %w", err), false}
}

func (c *cloud) gcpAddress(credentials *google.Credentials, location string) (string, error) {
	if address := c.getenv(gcpEndpoint); address != "" {
		return strings.TrimSuffix(address, "/"), nil
	}
	universe, err := credentials.GetUniverseDomain()
	if err != nil {
		return "", fmt.Errorf("ask for Google's domain: %w", err)
	}
	if location != "" {
		return "https://secretmanager." + location + ".rep." + universe, nil
	}
	return "https://secretmanager." + universe, nil
}

func gcpRefused(err error) error {
	var refused *refusedError
	var missing *credentialsError
	switch {
	case errors.As(err, &missing):
		return fmt.Errorf(
			"%w; see that the service account exists and its key is valid (GOOGLE_APPLICATION_CREDENTIALS)",
			missing.error,
		)
	case !errors.As(err, &refused):
		return fmt.Errorf("ask Google's Secret Manager: %w; see that this machine reaches it", err)
	}
	var answer struct{ Error struct{ Message string } }
	_ = json.Unmarshal(refused.body, &answer)
	said := fmt.Sprintf("Google's Secret Manager answers %v %q", refused, answer.Error.Message)
	switch refused.code {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf(
			"%s; give piped's service account the role roles/secretmanager.secretAccessor for the secret", said,
		)
	case http.StatusNotFound:
		return fmt.Errorf(
			"%s; see that there is such a secret with an enabled version: gcloud secrets versions list SECRET", said,
		)
	default:
		return errors.New(said)
	}
}

// gcpPayload takes the content out of the answer.
func gcpPayload(body []byte) ([]byte, error) {
	var answer struct {
		Payload struct {
			Data       []byte
			DataCrc32c string
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, errors.New("the answer of Google's Secret Manager is not as expected: it is no JSON with a payload")
	}
	if given := answer.Payload.DataCrc32c; given != "" {
		sum := crc32.Checksum(answer.Payload.Data, crc32.MakeTable(crc32.Castagnoli))
		if given != strconv.FormatUint(uint64(sum), 10) {
			return nil, errors.New(
				"the secret was changed on its way from Google's Secret Manager: its checksum is wrong; try again",
			)
		}
	}
	if len(answer.Payload.Data) == 0 {
		return nil, errors.New(
			"the secret is empty; add a version with the configuration: gcloud secrets versions add SECRET " +
				"--data-file=FILE",
		)
	}
	return answer.Payload.Data, nil
}
