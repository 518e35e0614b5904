// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubeapi

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"

	"go.yaml.in/yaml/v3"
)

// data is bytes in base64.
type data []byte

// UnmarshalYAML implements yaml.Unmarshaler.
func (d *data) UnmarshalYAML(node *yaml.Node) (err error) {
	*d, err = base64.StdEncoding.DecodeString(node.Value)
	return err
}

// onceReady are checks of /readyz that do not change any more once a server was ready, or repeat another one. They are
// most of what an answer costs the server.
var onceReady = url.Values{"exclude": {"informer-sync", "etcd-readiness"}}

// Healthy returns why the API server does not answer that it is ready. An answer that refuses the caller is one, unless
// it does not know the credentials.
func (c *Client) Healthy(ctx context.Context) error {
	err := c.Get(ctx, "/readyz", onceReady, nil)
	var answer *StatusError
	if !errors.As(err, &answer) {
		if err != nil {
			c.Close() // this connection may lead nowhere
		}
		return err
	}
	if answer.Code == http.StatusUnauthorized || answer.Code >= http.StatusInternalServerError {
		return &StatusError{URL: c.Host + "/readyz", Code: answer.Code} // the message lists every part of the server
	}
	return nil
}

// Identity returns the uid of the namespace that each cluster has from its beginning to its end.
func (c *Client) Identity(ctx context.Context) (string, error) {
	var namespace struct {
		Metadata struct {
			UID string `json:"uid"`
		} `json:"metadata"`
	}
	err := c.Get(ctx, "/api/v1/namespaces/kube-system", nil, &namespace)
	return namespace.Metadata.UID, err
}
