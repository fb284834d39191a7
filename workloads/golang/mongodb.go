package golang

import (
	"cmp"
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"
)

// mongoDatabase keeps the devices where the URL names no database.
const mongoDatabase = "millicore"

// MongoDB is a Store in a collection of MongoDB, or of what speaks its protocol.
type MongoDB struct {
	client  *mongo.Client
	devices *mongo.Collection
}

// OpenMongoDB returns a MongoDB at a URL, as mongodb://host:27017/name, with at
// most so many connections for inserts; the driver has a few more, to watch the
// server. It awaits no answer yet: its errors are the URL's.
func OpenMongoDB(url string, connections int) (*MongoDB, error) {
	parsed, err := connstring.ParseAndValidate(url)
	if err != nil {
		return nil, err
	}
	client, err := mongo.Connect(mongoOptions(url, connections))
	if err != nil {
		return nil, err
	}
	database := client.Database(cmp.Or(parsed.Database, mongoDatabase))
	return &MongoDB{client, database.Collection("devices")}, nil
}

// mongoOptions are the URL's options and, whatever it says, those in which the
// services have to be alike. An insert is sent once: where the driver may retry
// it, it carries a session and a transaction number that the server keeps a
// record of, and one that failed is a second round trip inside the same insert's
// duration instead of a 503. The services in JavaScript set the same.
func mongoOptions(url string, connections int) *options.ClientOptions {
	return options.Client().ApplyURI(url).
		SetMaxPoolSize(uint64(connections)).
		SetConnectTimeout(insertPatience).
		SetRetryWrites(false)
}

// Prepare waits for an answer. The first document creates the collection.
func (m *MongoDB) Prepare(ctx context.Context) error {
	return m.client.Ping(ctx, nil)
}

// Insert adds a document.
func (m *MongoDB) Insert(ctx context.Context, d Device) error {
	_, err := m.devices.InsertOne(ctx, bson.D{
		{Key: "_id", Value: d.ID},
		{Key: "mac", Value: d.MAC},
		{Key: "firmware", Value: d.Firmware},
	})
	if err != nil {
		return fmt.Errorf("insert into mongodb: %w", err)
	}
	return nil
}

// Close closes the connections, and waits for those in use until ctx ends.
func (m *MongoDB) Close(ctx context.Context) {
	_ = m.client.Disconnect(ctx) // the process ends: nothing is left to do about an error
}
