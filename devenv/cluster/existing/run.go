// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package existing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/system/clock"
)

// Run waits until the cluster's API answers, then reports when it goes away and when it is back.
func (p *Provider) Run(ctx context.Context, progress cluster.Progress, ready func(string)) error {
	if err := p.context.write(p.kubeconfig); err != nil {
		return err
	}
	api, err := p.client()
	if err != nil {
		return err
	}
	progress("asking "+p.context.Server, 0, 0)
	answer, err := p.awaitFirst(ctx, api, progress)
	if err != nil || ctx.Err() != nil {
		return err
	}
	ready(answer)
	for unanswered := 0; clock.Sleep(ctx, p.every(unanswered)); {
		answer, err := p.ask(ctx, api)
		switch {
		case ctx.Err() != nil:
		case err == nil && unanswered >= lostAfter:
			p.logger.Info("the API server answers again", "context", p.context.Name)
			ready(answer)
			unanswered = 0
		case err == nil:
			unanswered = 0
		default:
			if unanswered++; unanswered == lostAfter {
				p.logger.Warn("the API server does not answer any more", "context", p.context.Name, "error", err)
			}
			if unanswered >= lostAfter {
				progress(p.waitingFor(err), 0, 0)
				unanswered = lostAfter
			}
		}
	}
	return nil
}

func (p *Provider) every(unanswered int) time.Duration {
	if unanswered > 0 {
		return p.waitEvery
	}
	return p.lookEvery
}

// awaitFirst is patient with a cluster that is just starting, not with one that turns us away.
func (p *Provider) awaitFirst(
	ctx context.Context, api rest.Interface, progress cluster.Progress,
) (string, error) {
	bounded, cancel := context.WithTimeout(ctx, p.readyWithin)
	defer cancel()
	for {
		answer, err := p.ask(bounded, api)
		switch {
		case ctx.Err() != nil:
			return "", nil
		case err == nil:
			return answer, nil
		case apierrors.IsUnauthorized(err), apierrors.IsForbidden(err):
			return "", p.failure(err, "log in to the cluster again; check it with: "+p.question())
		}
		progress(p.waitingFor(err), 0, 0)
		if !clock.Sleep(bounded, p.waitEvery) && ctx.Err() == nil {
			return "", p.failure(err, "start the cluster; check it with: "+p.question())
		}
	}
}

// ask returns a line about a cluster that is ready.
func (p *Provider) ask(ctx context.Context, api rest.Interface) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	if err := api.Get().AbsPath("/readyz").Do(ctx).Error(); err != nil {
		return "", err
	}
	var server version.Info
	data, err := api.Get().AbsPath("/version").Do(ctx).Raw()
	if err != nil {
		return "", err
	}
	if err := json.Unmarshal(data, &server); err != nil {
		return "", err
	}
	return fmt.Sprintf("context %s, %s, Kubernetes %s", p.context.Name, p.context.Server, server.GitVersion), nil
}

func (p *Provider) client() (rest.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", p.kubeconfig)
	if err != nil {
		return nil, p.failure(err, "see it with: kubectl config view --context "+p.context.Name)
	}
	config.UserAgent = "pipedeck"
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"}) // only the API's errors are decoded
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	api, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, p.failure(err, "see it with: kubectl config view --context "+p.context.Name)
	}
	return api, nil
}

func (p *Provider) failure(err error, hint string) error {
	return &cluster.HintError{Err: fmt.Errorf("context %q, API server %s: %w", p.context.Name, p.context.Server, err),
		Hint: hint}
}

func (p *Provider) waitingFor(err error) string {
	return fmt.Sprintf("waiting for %s: %s", p.context.Server, reason(err))
}

// question is how a user asks the same.
func (p *Provider) question() string {
	command := "kubectl --context " + p.context.Name
	if p.context.file != "" {
		command += " --kubeconfig " + p.context.file
	}
	return command + " get --raw /readyz"
}

// reason is what a user needs of an error while the cluster is waited for: the server says at length
// which of its parts is not ready, and the client repeats the question.
func reason(err error) string {
	var status apierrors.APIStatus
	var question *url.Error
	switch {
	case errors.As(err, &status) && status.Status().Code >= http.StatusInternalServerError:
		return fmt.Sprintf("it is not ready (HTTP %d)", status.Status().Code)
	case errors.As(err, &question):
		err = question.Err
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
