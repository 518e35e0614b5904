// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// tokenLife is the part of a token's life after which it is replaced, as a kubelet does it.
const tokenLife = 0.8

// token is a service account token for a volume: the one that is there while it is young enough.
func (p *pod) token(ctx context.Context, source *corev1.ServiceAccountTokenProjection) (string, error) {
	seconds := int64(defaultTokenSeconds)
	if source.ExpirationSeconds != nil {
		seconds = *source.ExpirationSeconds
	}
	key := tokenKey{source.Audience, seconds}
	if kept, ok := p.tokens[key]; ok && time.Now().Before(kept.renew) {
		return kept.text, nil
	}
	text, err := p.manager.config.Objects.Token(ctx, p.now, source.Audience, seconds)
	if err != nil {
		return "", err
	}
	life := time.Duration(float64(seconds) * tokenLife * float64(time.Second))
	p.tokens[key] = token{text, time.Now().Add(life)}
	return text, nil
}

type tokenKey struct {
	audience string
	seconds  int64
}

type token struct {
	text  string
	renew time.Time
}

// renewal is when the first of the pod's tokens has to be replaced; zero when it has none.
func (p *pod) renewal() time.Time {
	var first time.Time
	for _, kept := range p.tokens {
		if first.IsZero() || kept.renew.Before(first) {
			first = kept.renew
		}
	}
	return first
}
