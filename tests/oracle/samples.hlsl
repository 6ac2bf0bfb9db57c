// Copies multisampled textures from and to a buffer, as four components of 32 bits for each texel: layer after layer, in each
// all texels of the first sample, then those of the next. COMPONENT is their type.
typedef vector<COMPONENT, 4> Texel;
StructuredBuffer<Texel> From : register(t0);
Texture2DMSArray<Texel> Samples : register(t1);
RWStructuredBuffer<Texel> To : register(u0);

// A group for each texel of each sample.
[numthreads(1, 1, 1)]
void read(uint3 place : SV_GroupID)
{
    uint width, height, layers, count;
    Samples.GetDimensions(width, height, layers, count);
    To[(place.z * height + place.y) * width + place.x] = Samples.Load(int3(place.xy, place.z / count), place.z % count);
}

float4 vs(uint id : SV_VertexID) : SV_Position
{
    return float4(id & 1 ? 3 : -1, id >> 1 ? -3 : 1, 0, 1);
}

Texel texel(float4 position, uint number)
{
    return From[(number * HEIGHT + (uint)position.y) * WIDTH + (uint)position.x];
}

Texel ps_color(float4 position : SV_Position, uint number : SV_SampleIndex) : SV_Target
{
    return texel(position, number);
}

float ps_depth(float4 position : SV_Position, uint number : SV_SampleIndex) : SV_Depth
{
    return (float)texel(position, number).x;
}
