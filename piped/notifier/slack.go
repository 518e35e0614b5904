// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package notifier

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/piped/clip"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/observe"
)

// slackAPI is where Slack's Web API is.
const slackAPI = "https://slack.com/api"

// passingSlackErrors are the errors of Slack's Web API that it asks to try again after.
var passingSlackErrors = []string{
	"ratelimited", "rate_limited", "internal_error", "fatal_error", "service_unavailable", "request_timeout",
	"team_added_to_org",
}

// slack posts to an incoming webhook, or to a channel by the Web API.
type slack struct {
	config config.SlackTarget
	// target is a secret when it is an incoming webhook; token is empty then.
	target, token string
	client        *http.Client
	links         links
	render        *renderer
}

func newSlack(c config.SlackTarget, client *http.Client, o Options, render *renderer) (sender, error) {
	s := &slack{config: c, target: c.HookURL, client: client, links: links{o.WebAddress}, render: render}
	token, err := slackToken(c)
	switch {
	case err != nil:
		return nil, err
	case c.HookURL != "" && token != "":
		return nil, errors.New("slack has both hookURL and a token; keep one")
	case c.HookURL != "":
		if err := checkURL(c.HookURL); err != nil {
			return nil, fmt.Errorf("slack.hookURL: %w", err)
		}
		return s, nil
	case token == "":
		return nil, errors.New("slack has neither hookURL nor a token; give hookURL, oauthTokenFile or oauthTokenData")
	case c.ChannelID == "":
		return nil, errors.New("slack has a token and no channelID")
	}
	s.target, s.token = strings.TrimSuffix(o.SlackAPI, "/")+"/chat.postMessage", token
	return s, nil
}

func slackToken(c config.SlackTarget) (string, error) {
	switch {
	case c.OAuthTokenFile != "":
		token, err := os.ReadFile(c.OAuthTokenFile)
		if err != nil {
			return "", fmt.Errorf("read slack.oauthTokenFile: %w", err)
		}
		return strings.TrimSpace(string(token)), nil
	case c.OAuthTokenData != "":
		token, err := base64.StdEncoding.DecodeString(c.OAuthTokenData)
		if err != nil {
			return "", errors.New("slack.oauthTokenData is not base64")
		}
		return strings.TrimSpace(string(token)), nil
	}
	return c.OAuthToken, nil
}

// slackMessage is what both ways of posting take.
type slackMessage struct {
	Channel     string            `json:"channel,omitempty"`
	Username    string            `json:"username"`
	Text        string            `json:"text,omitempty"`
	Attachments []slackAttachment `json:"attachments"`
}

type slackAttachment struct {
	Fallback  string       `json:"fallback"`
	Title     string       `json:"title"`
	TitleLink string       `json:"title_link,omitempty"`
	Text      string       `json:"text,omitempty"`
	Fields    []slackField `json:"fields,omitempty"`
	Color     string       `json:"color"`
	Markdown  []string     `json:"mrkdwn_in"`
	Timestamp int64        `json:"ts"`
}

type slackField struct {
	Title string `json:"title"`
	Value string `json:"value"`
	Short bool   `json:"short"`
}

func (s *slack) send(ctx context.Context, e *observe.Event) error {
	message, err := s.message(e)
	if err != nil {
		return err
	}
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	header := http.Header{"Content-Type": {"application/json; charset=utf-8"}, "User-Agent": {"pipedeck"}}
	if s.token != "" {
		header.Set("Authorization", "Bearer "+s.token)
	}
	answer, err := post(ctx, s.client, s.target, header, body)
	if err != nil || s.token == "" {
		return err
	}
	// The Web API says "200 OK" to everything it understands.
	var result struct {
		OK    bool   `json:"ok"`
		Error string `json:"error"`
	}
	if err := json.Unmarshal(answer, &result); err != nil {
		return errors.New("slack's answer cannot be read; does the address lead to its Web API?")
	}
	if result.OK {
		return nil
	}
	err = fmt.Errorf(
		"slack refused the message: %s", strings.ReplaceAll(clip.Characters(result.Error, 100), s.token, "******"),
	)
	if slices.Contains(passingSlackErrors, result.Error) {
		return &passingError{err: err}
	}
	return err
}

// message builds the attachment. Mentions stand in the text above it: Slack does not call people who are
// named in an attachment only.
func (s *slack) message(e *observe.Event) (*slackMessage, error) {
	mentioned := newMentions(e)
	mentioned.users = union(mentioned.users, s.config.MentionedAccounts)
	mentioned.groups = union(mentioned.groups, s.config.MentionedGroups)
	v := newView(e, s.links, mentioned, escapeSlack)
	text := v.Text
	if s.render != nil {
		rendered, err := s.render.render(v)
		if err != nil {
			return nil, err
		}
		text = string(rendered)
	}
	attachment := slackAttachment{
		Fallback: v.Title, Title: v.Title, TitleLink: v.Link, Text: clip.Characters(text, maxText),
		Color:    colors[e.Type],
		Markdown: []string{"text", "fields"}, Timestamp: e.At.Unix(),
	}
	if attachment.Color == "" {
		attachment.Color = colorInfo
	}
	for _, f := range v.fields() {
		value := f.value
		if f.link != "" {
			value = fmt.Sprintf("<%s|%s>", f.link, f.value)
		}
		attachment.Fields = append(attachment.Fields, slackField{f.name, value, true})
	}
	return &slackMessage{
		Channel: s.config.ChannelID, Username: "PipeCD", Text: v.Mentions, Attachments: []slackAttachment{attachment},
	}, nil
}

// Colours of the bar next to a message.
const (
	colorInfo    = "#4A5568"
	colorSuccess = "#2F855A"
	colorWarning = "#B7791F"
	colorError   = "#C53030"
)

var colors = map[observe.Type]string{
	observe.DeploymentSucceeded: colorSuccess, observe.DeploymentFailed: colorError,
	observe.DeploymentTriggerFailed: colorError,
	observe.DeploymentCancelled:     colorWarning, observe.DeploymentRollingBack: colorWarning,
	observe.DeploymentWaitApproval: colorWarning,
	observe.ApplicationSynced:      colorSuccess, observe.ApplicationOutOfSync: colorWarning,
	observe.ApplicationHealthy: colorSuccess, observe.ApplicationUnhealthy: colorError,
	observe.StageSucceeded: colorSuccess, observe.StageFailed: colorError, observe.StageCancelled: colorWarning,
}

var slackEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func escapeSlack(text string) string { return slackEscapes.Replace(text) }
